// The loop that every training runs: steps, evaluations, checkpoints, a log.

#include <time.h>  // clock_gettime

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/nn/schedule.hpp"
#include "attn/tasks/checkpoint.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/weight_average.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/replace.hpp"

namespace attn::tasks {
namespace {

/// A JSON object a line, one every few steps.
class TrainingLog {
 public:
  explicit TrainingLog(std::filesystem::path path);

  /// Opens the log behind what was written up to that step; later lines belong to steps that
  /// will be made again and are taken out.
  void keep_until(std::int64_t step);
  /// The line is with the system when this returns, so that who watches sees it and a kill
  /// loses nothing of it; a full disk is a FileError.
  void write(const nlohmann::json& line);

 private:
  void flush();

  std::filesystem::path path_;
  std::ofstream file_;
};

TrainingLog::TrainingLog(std::filesystem::path path) : path_(std::move(path)) {}

void TrainingLog::keep_until(std::int64_t step) {
  std::string kept;
  std::ifstream old(path_);
  for (std::string line; step > 0 && std::getline(old, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    // A line that a killed run left half-written belongs to no step.
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer())
      continue;
    if (json["step"].get<std::int64_t>() <= step) kept += line + "\n";
  }
  files::atomic_write(path_, kept);
  file_.open(path_, std::ios::app);
  flush();
}

void TrainingLog::write(const nlohmann::json& line) {
  // A model that writes bytes may write half a letter.
  file_ << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  flush();
}

void TrainingLog::flush() {
  file_.flush();
  if (!file_)
    fail<FileError>(files::path_text(path_), " could not be written; is the disk full?");
}

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

DType steps_in(Precision precision) {
  return precision == Precision::bf16 ? DType::bf16 : DType::f32;
}

class Run {
 public:
  Run(Learner& learner, const TrainingRun& run, const Watch& watch)
      : learner_(learner),
        module_(learner.module()),
        run_(run),
        precision_(steps_in(run.on.precision)),
        watch_(watch),
        optimiser_(
            nn::adam_w(module_, run.how.decay, {.beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9})),
        average_(module_, run.how.average),
        schedule_(nn::inverse_square_root_rate(run.how.rate, run.how.warm_up)),
        log_(run.where.folder / "log.jsonl") {
    if (precision_ == DType::f32) return;
    optimiser_.keep_masters(precision_);
    average_.follow(optimiser_.numbers());
  }

  Trained go() {
    begin();
    TrainingEnd ended = TrainingEnd::budget;
    while (!spent()) {
      one_step();
      if (state_.steps % kStepsOfALogLine == 0) tell({});
      if (state_.steps % run_.how.evaluate_every == 0 && no_better()) {
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
  std::filesystem::path checkpoint() const {
    return run_.where.folder / "checkpoint.safetensors";
  }

  /// A checkpoint of f32 holds no masters, so another precision is another training.
  std::string what() const {
    return precision_ == DType::f32
               ? learner_.identity()
               : std::string(attn::name_of(precision_)) + " " + learner_.identity();
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
    make_folder(run_.where.folder);
    if (run_.where.resume == Resume::yes) {
      state_ = load_checkpoint(checkpoint(), what(), tensors());
      optimiser_.set_steps(state_.steps);
      nn::random() = Random::at(state_.random_key, state_.random_drawn);
      evaluated_ = state_.steps % run_.how.evaluate_every == 0 ? state_.steps : 0;
    } else {
      nn::random() = Random(run_.how.seed).named("training");
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
    if (run_.budget.steps > 0) budget["steps"] = run_.budget.steps;
    if (run_.budget.epochs > 0) budget["epochs"] = run_.budget.epochs;
    if (run_.budget.minutes > 0.0) budget["minutes"] = run_.budget.minutes;
    log_.write({{"event", "begin"}, {"step", state_.steps}, {"budget", budget}});
  }

  void log_end(TrainingEnd ended) {
    log_.write({{"event", "end"}, {"step", state_.steps}, {"why", name_of(ended)}});
  }

  void make_epoch() { batches_ = learner_.begin_epoch(state_.epoch); }

  bool spent() const {
    const Budget& budget = run_.budget;
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
    nn::clip_gradients(module_, run_.how.clip);
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
    const Budget& budget = run_.budget;
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
    if (precision_ == DType::f32) return;
    const NoGrad off_the_tape;
    for (const Tensor& parameter : module_.parameters())
      nn::replace(parameter, parameter.detach().to(precision_));
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
      if (state_.best.empty() || better(evaluation.scores, state_.best)) {
        state_.best = evaluation.scores;
        state_.best_step = state_.steps;
        state_.without_better = 0;
        keep_best();
      } else {
        ++state_.without_better;
      }
      module_.to(run_.on.device);
      module_.train();
    }
    round_parameters();
    evaluated_ = state_.steps;
    tell(evaluation);
    save();
    told_ += Clock::now() - then;  // not a time of training
    return run_.how.patience > 0 && state_.without_better >= run_.how.patience;
  }

  void keep_best() {
    learner_.save(run_.where.folder, nlohmann::json{{"command", run_.where.command},
                                                    {"data", learner_.data()},
                                                    {"steps", state_.steps},
                                                    {"epochs", state_.epoch},
                                                    {"minutes", state_.seconds / 60.0},
                                                    {"development", json_of(state_.best)}}
                                         .dump());
  }

  void save() {
    state_.random_key = nn::random().key();
    state_.random_drawn = nn::random().drawn();
    save_checkpoint(checkpoint(), state_, what(), tensors(), run_.where.shard_bytes);
    saved_ = Clock::now();
  }

  /// The first step of all is saved at once: from then on nothing has to be begun again.
  void save_now_and_then() {
    const bool first = state_.steps == 1;
    const bool pause_over = seconds_since(saved_) > pause_;
    if (pause_over) pause_ = std::min(2.0 * pause_, kLongestPause);
    const bool due =
        run_.where.save_every > 0 ? state_.steps % run_.where.save_every == 0 : pause_over;
    if (first || due) save();
  }

  Learner& learner_;
  nn::Module& module_;
  const TrainingRun& run_;
  DType precision_;  ///< of parameters and activations in the steps
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

void check(const TrainingRun& run) {
  const TrainingOptions& options = run.how;
  if (options.evaluate_every < 1 || options.evaluate_on < 1)
    fail("attn::tasks::train: evaluate_every and evaluate_on are at least 1; seen ",
         options.evaluate_every, " and ", options.evaluate_on);
  if (!(options.rate > 0.0) || !(options.average >= 0.0 && options.average < 1.0))
    fail("attn::tasks::train: the rate is above 0 and the average in [0, 1); seen ",
         options.rate, " and ", options.average);
  const Budget& budget = run.budget;
  if (run.on.precision != Precision::f32 && run.on.device != Device::gpu)
    fail("attn::tasks::train: precision ", name_of(run.on.precision), " on the ",
         attn::name_of(run.on.device), "; f32 is accepted, and others on the gpu");
  if (budget.steps <= 0 && budget.epochs <= 0 && budget.minutes <= 0.0 && options.patience <= 0)
    fail("attn::tasks::train: no budget and no patience: it would never end");
}

}  // namespace

const char* name_of(TrainingEnd end) {
  constexpr const char* kNames[] = {"budget", "no_better", "stopped"};  // in its order
  return kNames[static_cast<std::size_t>(end)];
}

Trained train(Learner& learner, const TrainingRun& run, const Watch& watch) {
  check(run);
  // Before the optimiser, whose numbers lie where the weights do.
  learner.module().to(run.on.device);
  const Trained trained = Run(learner, run, watch).go();
  learner.module().to(DType::f32);
  learner.module().to(Device::cpu);
  return trained;
}

}  // namespace attn::tasks
