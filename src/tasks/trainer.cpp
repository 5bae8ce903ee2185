#include "attn/tasks/trainer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/models/search.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/self_critical.hpp"
#include "tasks/training_loop.hpp"

namespace attn::tasks {
namespace {

/// Development examples whose answers are in the log.
constexpr std::size_t kSamples = 5;

struct Judged {
  std::vector<std::string> answers;
  Scores scores;
};

Judged judge(const PairModel& model, std::span<const Example> examples, Metric metric,
             const models::SearchOptions& options) {
  std::vector<std::string> sources;
  std::vector<std::vector<std::string>> references;
  sources.reserve(examples.size());
  references.reserve(examples.size());
  for (const Example& example : examples) {
    sources.push_back(example.source);
    references.push_back(example.targets);
  }
  Judged judged;
  judged.answers.reserve(examples.size());
  for (auto& best : answer(model, sources, options))
    judged.answers.push_back(std::move(best.front().text));
  judged.scores = score(metric, judged.answers, references);
  return judged;
}

class PairLearner final : public Learner {
 public:
  PairLearner(PairModel& model, const TrainingPlan& plan)
      : model_(model),
        plan_(plan),
        development_(spread(plan.development, plan.options.evaluate_on)) {}

  nn::Module& module() override { return *model_.model; }

  std::int64_t begin_epoch(std::int64_t epoch) override {
    batches_ = make_batches(plan_.train, plan_.options.batch_tokens, plan_.options.seed, epoch);
    return static_cast<std::int64_t>(batches_.size());
  }

  Lesson learn(std::int64_t step) override {
    const models::Batch batch = collate(plan_.train, batches_[static_cast<std::size_t>(step)]);
    const std::int64_t* target = batch.target.data<std::int64_t>();
    const double share = plan_.options.self_critical;
    Tensor loss;
    if (share < 1.0)
      loss = model_.model->loss(
          batch, {.smoothing = plan_.options.smoothing, .coverage = plan_.options.coverage});
    if (share > 0.0) {
      const Tensor risk = metric_loss(batches_[static_cast<std::size_t>(step)]);
      loss = loss.defined() ? loss * (1.0 - share) + risk * share : risk;
    }
    return {loss, std::count_if(target, target + batch.target.numel(),
                                [](std::int64_t id) { return id != models::kPad; })};
  }

  Evaluation evaluate() override {
    const Judged judged = judge(model_, development_, plan_.metric, {});
    Evaluation evaluation{judged.scores, {}};
    const std::size_t count = std::min(kSamples, development_.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = i * development_.size() / count;
      evaluation.samples.push_back(
          {development_[at].source, judged.answers[at], development_[at].targets.front()});
    }
    return evaluation;
  }

  bool better(const Scores& a, const Scores& b) const override { return tasks::better(a, b); }

  void keep(const std::string& history) override {
    model_.history = history;
    save_model(plan_.folder, model_);
  }

 private:
  Tensor metric_loss(const Rows& rows) {
    nn::Module& module = *model_.model;
    module.eval();
    const models::Batch own =
        own_answers(model_, plan_.metric, plan_.train, rows, nn::random().next());
    const Tensor loss = model_.model->loss(own, {});
    module.train();
    return loss;
  }

  PairModel& model_;
  const TrainingPlan& plan_;
  std::vector<Example> development_;
  std::vector<Rows> batches_;
};

void validate(const TrainingPlan& plan) {
  if (plan.train.empty()) fail("attn::tasks::train: there is nothing to learn from");
  if (plan.development.empty())
    fail("attn::tasks::train: the development part is empty; it tells when to stop");
  if (!(plan.options.self_critical >= 0.0 && plan.options.self_critical <= 1.0))
    fail("attn::tasks::train: self_critical is a share, 0 to 1; seen ",
         plan.options.self_critical);
  if (plan.options.batch_tokens < 1)
    fail("attn::tasks::train: batch_tokens is at least 1; seen ", plan.options.batch_tokens);
}

}  // namespace

std::vector<Example> spread(const std::vector<Example>& all, std::int64_t most) {
  const auto count = std::min(all.size(), static_cast<std::size_t>(most));
  std::vector<Example> chosen;
  chosen.reserve(count);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[i * all.size() / count]);
  return chosen;
}

Scores evaluate(const PairModel& model, std::span<const Example> examples, Metric metric,
                const models::SearchOptions& options) {
  return judge(model, examples, metric, options).scores;
}

const char* name_of(TrainingEnd end) {
  switch (end) {
    case TrainingEnd::budget:
      return "budget";
    case TrainingEnd::no_better:
      return "no_better";
    case TrainingEnd::stopped:
      break;
  }
  return "stopped";
}

Trained train(PairModel& model, const TrainingPlan& plan, const Watch& watch) {
  validate(plan);
  PairLearner learner(model, plan);
  return run_training(learner,
                      {.options = plan.options,
                       .budget = plan.budget,
                       .folder = plan.folder,
                       .what = plan.what,
                       .command = plan.command,
                       .data = plan.data,
                       .resume = plan.resume,
                       .save_every = plan.save_every,
                       .shard_bytes = plan.shard_bytes,
                       .device = plan.device,
                       .precision = plan.precision},
                      watch);
}

}  // namespace attn::tasks
