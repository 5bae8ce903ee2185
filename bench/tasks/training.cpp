// M1: a training step of each task's model.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/thread_pool.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/weight_average.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "stopwatch.hpp"
#include "tasks/measure.hpp"
#include "training/entrants.hpp"
#include "training/workload.hpp"

namespace attn::bench {
namespace {

/// Means of a task's development part, without eos; vocabularies are counted with their marks.
struct Typical {
  std::string task;
  std::int64_t source_vocabulary;
  std::int64_t target_vocabulary;
  std::int64_t source;  ///< tokens
  std::int64_t target;
};

std::vector<Typical> typical() {
  return {{"pronounce", 33, 43, 8, 6},
          {"translate", 3900, 3900, 21, 23},
          {"summarise", 3900, 3900, 91, 12}};
}

class TaskStep : public Workload {
 public:
  TaskStep(const tasks::PairTask& task, const Typical& like, int threads)
      : threads_(threads),
        loss_{.smoothing = task.training.smoothing, .coverage = task.training.coverage},
        clip_(task.training.clip),
        model_(models::make_model(with_vocabularies(task, like))),
        optimiser_(nn::adam_w(*model_, task.training.decay,
                              {.beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9})),
        average_(*model_, task.training.average) {
    // Lengths differ by a token or two, as in a batch of like lengths, which is full.
    const std::int64_t rows = task.training.batch_tokens / (like.source + like.target + 2);
    std::vector<tasks::EncodedPair> pairs(static_cast<std::size_t>(rows));
    tasks::Rows all;
    Random random(3);
    for (std::int64_t row = 0; row < rows; ++row) {
      auto& pair = pairs[static_cast<std::size_t>(row)];
      pair.source = drawn(like.source + row % 3 - 1, like.source_vocabulary, random);
      pair.source.push_back(models::kEos);
      pair.target = drawn(like.target + row % 3 - 1, like.target_vocabulary, random);
      tokens_ += static_cast<double>(pair.target.size() + 1);
      all.push_back(row);
    }
    batch_ = tasks::collate(pairs, all);
    model_->train();
  }

  double seconds(int calls) override {
    ThreadPool::set_default_threads(threads_);
    const Stopwatch watch(threads_);
    for (int call = 0; call < calls; ++call) {
      optimiser_.zero_grad();
      model_->loss(batch_, loss_).backward();
      nn::clip_gradients(*model_, clip_);
      optimiser_.step(1e-3);
      average_.update(++steps_);
    }
    return watch.seconds() / calls;
  }

  double tokens() const { return tokens_; }  ///< of the target, eos included

 private:
  static models::ModelOptions with_vocabularies(const tasks::PairTask& task,
                                                const Typical& like) {
    models::ModelOptions options = task.model;
    options.source_vocabulary = like.source_vocabulary;
    options.target_vocabulary = like.target_vocabulary;
    options.max_source = task.limits.source + 1;
    return options;
  }

  static std::vector<std::int64_t> drawn(std::int64_t count, std::int64_t vocabulary,
                                         Random& random) {
    const Tensor ids = random_integers({count}, models::kUnknown + 1, vocabulary, random);
    const auto* first = ids.data<std::int64_t>();
    return {first, first + count};
  }

  int threads_;
  models::LossOptions loss_;
  double clip_;
  std::shared_ptr<models::Seq2Seq> model_;
  nn::Adam optimiser_;
  tasks::WeightAverage average_;
  models::Batch batch_;
  double tokens_ = 0.0;
  std::int64_t steps_ = 0;
};

}  // namespace

void measure_task_training(const TaskOptions& options) {
  fmt::print("\nM1  training step of each task: target tokens a second\n");
  for (const Typical& like : typical()) {
    const tasks::PairTask& task = tasks::pair_task_named(like.task);
    for (const int threads : options.threads) {
      nn::seed(1);
      auto step = std::make_unique<TaskStep>(task, like, threads);
      const double tokens = step->tokens();
      std::vector<Entrant> entrants;
      entrants.push_back({"attn", std::move(step), {}});
      compete(entrants, options.quick ? 3 : 10);
      fmt::print("  {}/source:{}/target:{}/threads:{}\n{}  {:>7.0f} tokens/s\n", task.card.name,
                 like.source, like.target, threads, line_of(entrants[0]),
                 tokens / entrants[0].best());
    }
  }
}

}  // namespace attn::bench
