#include "tasks/training_loop.hpp"

#include <time.h>  // clock_gettime

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/nn/schedule.hpp"
#include "attn/tasks/checkpoint.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/trainer.hpp"
#include "attn/tasks/weight_average.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/replace.hpp"
#include "tasks/training_log.hpp"

namespace attn::tasks {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kStepsOfALogLine = 10;
/// Between checkpoints: short at first, so that a run that is killed early loses little, then
/// twice as long each time, up to a minute.
constexpr double kFirstPause = 5.0;
constexpr double kLongestPause = 60.0;

/// What all threads of this process have worked.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

std::vector<nn::NamedTensor> prefixed(const std::string& prefix,
                                      std::vector<nn::NamedTensor> tensors) {
  for (nn::NamedTensor& entry : tensors) entry.name.insert(0, prefix);
  return tensors;
}

class Run {
 public:
  Run(Learner& learner, const LoopPlan& plan, const Watch& watch)
      : learner_(learner),
        module_(learner.module()),
        plan_(plan),
        watch_(watch),
        optimiser_(nn::adam_w(module_, plan.options.decay,
                              {.beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9})),
        average_(module_, plan.options.average),
        schedule_(nn::inverse_square_root_rate(plan.options.rate, plan.options.warm_up)),
        log_(plan.folder / "log.jsonl") {
    if (plan_.precision == DType::f32) return;
    optimiser_.keep_masters(plan_.precision);
    average_.follow(optimiser_.numbers());
  }

  Trained go() {
    begin();
    TrainingEnd ended = TrainingEnd::budget;
    while (!spent()) {
      one_step();
      if (state_.steps % kStepsOfALogLine == 0) tell({});
      if (state_.steps % plan_.options.evaluate_every == 0 && no_better()) {
        ended = TrainingEnd::no_better;
        break;
      }
      if (watch_.stop && watch_.stop()) {
        ended = TrainingEnd::stopped;
        break;
      }
      save_now_and_then();
    }
    // An interrupted run goes on later and must not look at the development part more often
    // than an uninterrupted one.
    if (ended == TrainingEnd::budget && state_.steps > 0 && evaluated_ != state_.steps)
      no_better();
    save();
    log_end(ended);
    return {.ended = ended,
            .steps = state_.steps,
            .epochs = state_.epoch,
            .minutes = state_.seconds / 60.0,
            .processor_seconds = state_.processor_seconds,
            .best = state_.best};
  }

 private:
  std::filesystem::path checkpoint() const { return plan_.folder / "checkpoint.safetensors"; }

  /// A checkpoint of f32 holds no masters, so another precision is another training.
  std::string what() const {
    return plan_.precision == DType::f32
               ? plan_.what
               : std::string(name_of(plan_.precision)) + " " + plan_.what;
  }

  std::vector<nn::NamedTensor> tensors() {
    std::vector<nn::NamedTensor> all = prefixed("weights.", module_.named_parameters());
    for (auto& entry : prefixed("buffers.", module_.named_buffers()))
      all.push_back(std::move(entry));
    for (auto& entry : prefixed("average.", average_.state())) all.push_back(std::move(entry));
    for (auto& entry : prefixed("optimiser.", optimiser_.state()))
      all.push_back(std::move(entry));
    return all;
  }

  void begin() {
    make_folder(plan_.folder);
    if (plan_.resume == Resume::yes) {
      state_ = load_checkpoint(checkpoint(), what(), tensors());
      optimiser_.set_steps(state_.steps);
      nn::random() = Random::at(state_.random_key, state_.random_drawn);
      evaluated_ = state_.steps % plan_.options.evaluate_every == 0 ? state_.steps : 0;
    } else {
      nn::random() = Random(plan_.options.seed).named("training");
    }
    module_.train();
    start_ = saved_ = told_ = Clock::now();
    before_ = state_;
    told_tokens_ = state_.tokens;
    make_epoch();
    // The last batch of an epoch is followed by the first of the next, so a run never stands
    // behind the last. Before the log is cut: what is damaged is left as it was.
    if (state_.batch >= batches_)
      fail<FileError>(files::path_text(checkpoint()), " is damaged: batch is ", state_.batch,
                      " of an epoch of ", batches_);
    log_.keep_until(state_.steps);
    log_begin();
  }

  void log_begin() {
    nlohmann::json budget = nlohmann::json::object();
    if (plan_.budget.steps > 0) budget["steps"] = plan_.budget.steps;
    if (plan_.budget.epochs > 0) budget["epochs"] = plan_.budget.epochs;
    if (plan_.budget.minutes > 0.0) budget["minutes"] = plan_.budget.minutes;
    log_.write({{"event", "begin"}, {"step", state_.steps}, {"budget", budget}});
  }

  void log_end(TrainingEnd ended) {
    log_.write({{"event", "end"}, {"step", state_.steps}, {"why", name_of(ended)}});
  }

  void make_epoch() { batches_ = learner_.begin_epoch(state_.epoch); }

  bool spent() const {
    const Budget& budget = plan_.budget;
    return (budget.steps > 0 && state_.steps >= budget.steps) ||
           (budget.epochs > 0 && state_.epoch >= budget.epochs) ||
           (budget.minutes > 0.0 && seconds_since(start_) >= 60.0 * budget.minutes);
  }

  void one_step() {
    const Clock::time_point then = Clock::now();
    const double worked = processor_seconds();
    optimiser_.zero_grad();
    const auto [loss, tokens] = learner_.learn(state_.batch);
    loss.backward();
    nn::clip_gradients(module_, plan_.options.clip);
    // Read here, where clipping has waited already, and before anything is changed.
    const double value = loss.item();
    if (!std::isfinite(value))
      fail<Error>("the loss of step ", state_.steps + 1, " is ", value,
                  "; a lower --rate may help. The last checkpoint is as it was");
    optimiser_.step(schedule_(state_.steps));
    ++state_.steps;
    average_.update(state_.steps);
    state_.loss_sum += value;
    ++state_.loss_count;
    state_.tokens += tokens;
    state_.seconds += seconds_since(then);
    state_.processor_seconds += processor_seconds() - worked;
    if (++state_.batch == batches_) {
      state_.batch = 0;
      ++state_.epoch;
      make_epoch();
    }
  }

  double left() const {
    const Budget& budget = plan_.budget;
    const double gone = seconds_since(start_);
    const auto steps = static_cast<double>(state_.steps - before_.steps);
    double least = -1.0;
    const auto bound = [&](double seconds) {
      least = least < 0.0 ? seconds : std::min(least, seconds);
    };
    if (budget.minutes > 0.0) bound(std::max(0.0, 60.0 * budget.minutes - gone));
    if (steps > 0.0 && budget.steps > 0)
      bound(gone / steps * static_cast<double>(budget.steps - state_.steps));
    if (steps > 0.0 && budget.epochs > 0)
      bound(gone / steps *
            (static_cast<double>((budget.epochs - state_.epoch) * batches_ - state_.batch)));
    return least;
  }

  /// A line of the log and a progress report; with an evaluation it is of that.
  void tell(const Learner::Evaluation& evaluation) {
    const Scores& development = evaluation.scores;
    const double gone = seconds_since(told_);
    Progress progress{.step = state_.steps,
                      .epoch = state_.epoch,
                      .rate = schedule_(state_.steps - 1),
                      .tokens_per_second = last_speed_,
                      .seconds = seconds_since(start_),
                      .left = left(),
                      .development = development,
                      .best = state_.best};
    if (development.empty()) {
      progress.loss = last_loss_ =
          state_.loss_sum / static_cast<double>(std::max<std::int64_t>(1, state_.loss_count));
      progress.tokens_per_second = last_speed_ =
          gone > 0.0 ? static_cast<double>(state_.tokens - told_tokens_) / gone : 0.0;
      state_.loss_sum = 0.0;
      state_.loss_count = 0;
      nlohmann::json line{{"step", state_.steps},
                          {"epoch", state_.epoch},
                          {"loss", progress.loss},
                          {"rate", progress.rate},
                          {"tokens_per_second", std::round(progress.tokens_per_second)},
                          {"seconds", std::round(10.0 * state_.seconds) / 10.0}};
      if (progress.left >= 0.0) line["left"] = std::round(10.0 * progress.left) / 10.0;
      log_.write(line);
      told_ = Clock::now();
      told_tokens_ = state_.tokens;
    } else {
      // Before the first line of the log there is what was seen so far.
      progress.loss = state_.loss_count > 0 && last_loss_ == 0.0
                          ? state_.loss_sum / static_cast<double>(state_.loss_count)
                          : last_loss_;
      nlohmann::json line{{"step", state_.steps},
                          {"epoch", state_.epoch},
                          {"development", json_of(development)},
                          {"metric", development.front().name}};
      for (const Learner::Sample& sample : evaluation.samples)
        line["samples"].push_back(
            {{"source", sample.source}, {"answer", sample.answer}, {"target", sample.target}});
      log_.write(line);
    }
    if (watch_.progress) watch_.progress(progress);
  }

  /// As the optimiser does when it begins to keep masters: buffers stay as they are.
  void round_parameters() {
    if (plan_.precision == DType::f32) return;
    const NoGrad off_the_tape;
    for (const Tensor& parameter : module_.parameters())
      nn::replace(parameter, parameter.detach().to(plan_.precision));
  }

  /// Scores the averaged weights and keeps them if they are the best; true: time to end.
  bool no_better() {
    const Clock::time_point then = Clock::now();
    Learner::Evaluation evaluation;
    module_.to(DType::f32);  // the average is, and what is kept
    {
      const WithAverage averaged(average_);
      module_.eval();
      module_.to(Device::cpu);
      evaluation = learner_.evaluate();
      if (state_.best.empty() || learner_.better(evaluation.scores, state_.best)) {
        state_.best = evaluation.scores;
        state_.best_step = state_.steps;
        state_.without_better = 0;
        keep_best();
      } else {
        ++state_.without_better;
      }
      module_.to(plan_.device);
      module_.train();
    }
    round_parameters();
    evaluated_ = state_.steps;
    tell(evaluation);
    save();
    told_ += Clock::now() - then;  // not a time of training
    return plan_.options.patience > 0 && state_.without_better >= plan_.options.patience;
  }

  void keep_best() {
    learner_.keep(nlohmann::json{{"command", plan_.command},
                                 {"data", files::parse_json(plan_.data, "data")},
                                 {"steps", state_.steps},
                                 {"epochs", state_.epoch},
                                 {"minutes", state_.seconds / 60.0},
                                 {"development", json_of(state_.best)}}
                      .dump());
  }

  void save() {
    state_.random_key = nn::random().key();
    state_.random_drawn = nn::random().drawn();
    save_checkpoint(checkpoint(), state_, what(), tensors(), plan_.shard_bytes);
    saved_ = Clock::now();
  }

  /// The first step of all is saved at once: from then on nothing has to be begun again.
  void save_now_and_then() {
    const bool first = state_.steps == 1;
    const bool pause_over = seconds_since(saved_) > pause_;
    if (pause_over) pause_ = std::min(2.0 * pause_, kLongestPause);
    const bool due = plan_.save_every > 0 ? state_.steps % plan_.save_every == 0 : pause_over;
    if (first || due) save();
  }

  Learner& learner_;
  nn::Module& module_;
  const LoopPlan& plan_;
  const Watch& watch_;
  nn::Adam optimiser_;
  WeightAverage average_;
  nn::Schedule schedule_;
  TrainingLog log_;
  std::int64_t batches_ = 0;  ///< of the epoch
  TrainingState state_;
  TrainingState before_;
  std::int64_t evaluated_ = 0;  ///< the step of the last evaluation
  std::int64_t told_tokens_ = 0;
  double last_loss_ = 0.0;
  double last_speed_ = 0.0;
  Clock::time_point start_;
  Clock::time_point saved_;
  double pause_ = kFirstPause;  ///< until the next checkpoint, in seconds
  Clock::time_point told_;
};

void check(const LoopPlan& plan) {
  const TrainingOptions& options = plan.options;
  if (options.evaluate_every < 1 || options.evaluate_on < 1)
    fail("attn::tasks::train: evaluate_every and evaluate_on are at least 1; seen ",
         options.evaluate_every, " and ", options.evaluate_on);
  if (!(options.rate > 0.0) || !(options.average >= 0.0 && options.average < 1.0))
    fail("attn::tasks::train: the rate is above 0 and the average in [0, 1); seen ",
         options.rate, " and ", options.average);
  const Budget& budget = plan.budget;
  if (plan.precision != DType::f32 &&
      (plan.precision != DType::bf16 || plan.device != Device::gpu))
    fail("attn::tasks::train: precision ", name_of(plan.precision), " on the ",
         name_of(plan.device), "; f32 is accepted, and bf16 on the gpu");
  if (budget.steps <= 0 && budget.epochs <= 0 && budget.minutes <= 0.0 && options.patience <= 0)
    fail("attn::tasks::train: no budget and no patience: it would never end");
}

}  // namespace

Trained run_training(Learner& learner, const LoopPlan& plan, const Watch& watch) {
  check(plan);
  // Before the optimiser, whose numbers lie where the weights do.
  learner.module().to(plan.device);
  const Trained trained = Run(learner, plan, watch).go();
  learner.module().to(DType::f32);
  learner.module().to(Device::cpu);
  return trained;
}

}  // namespace attn::tasks
