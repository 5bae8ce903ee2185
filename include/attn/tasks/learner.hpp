/// Learner: what a training teaches, and from what. Every training runs one loop over it:
/// steps, evaluations, checkpoints and a log, so that a killed run resumes to the same losses.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "attn/nn/module.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {

class Learner {
 public:
  virtual ~Learner() = default;

  /// Its parameters and buffers are the state that checkpoints hold.
  virtual nn::Module& module() = 0;
  /// Makes the batches of an epoch, a function of the epoch alone, and tells how many there
  /// are.
  virtual std::int64_t begin_epoch(std::int64_t epoch) = 0;

  struct Lesson {
    Tensor loss;
    std::int64_t tokens = 0;  ///< of the targets
  };
  /// The loss of a batch of the epoch. Draws come from nn::random() alone.
  virtual Lesson learn(std::int64_t batch) = 0;

  /// A development example and what the model says to it now, for who watches.
  struct Sample {
    std::string source;
    std::string answer;
    std::string target;  ///< a right one
  };
  struct Evaluation {
    Scores scores;
    std::vector<Sample> samples;  ///< a few, the same ones each time
  };
  /// On the development part; the module is in eval().
  virtual Evaluation evaluate() = 0;

  /// Writes the model as it is, with how it was trained, a JSON object.
  virtual void save(const std::filesystem::path& folder, const std::string& history) = 0;
  /// Writes what a run that is resumed needs and its checkpoint does not hold.
  virtual void begin(const std::filesystem::path&) const {}

  /// What is learnt from what; a checkpoint of something else is refused.
  virtual std::string identity() const = 0;
  /// What it learns from, for the card of the model.
  virtual nlohmann::json data() const = 0;
  /// "1,804 pairs to learn from, ...": a line for who begins it.
  virtual std::string about() const = 0;
};

struct Progress {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  double loss = 0.0;  ///< mean since the last one
  double rate = 0.0;
  double tokens_per_second = 0.0;  ///< of the target
  double seconds = 0.0;            ///< of this run
  double left = -1.0;              ///< seconds until the budget ends; negative: unknown
  Scores development;              ///< of an evaluation that was just made, else empty
  Scores best;
};

struct Watch {
  std::function<void(const Progress&)> progress;
  std::function<bool()> stop;  ///< asked after each step; true: save and return
};

enum class TrainingEnd { budget, no_better, stopped };
/// "budget", "no_better" or "stopped", as the log has it.
const char* name_of(TrainingEnd end);

struct Trained {
  TrainingEnd ended = TrainingEnd::budget;
  std::int64_t steps = 0;
  std::int64_t epochs = 0;         ///< whole ones
  double minutes = 0.0;            ///< of training, over all runs
  double processor_seconds = 0.0;  ///< of all threads: what a busy machine changes least
  Scores best;
};

/// Trains and keeps the best model in the folder of the run. What it does depends on learner
/// and run alone: neither threads nor interruptions change a bit.
Trained train(Learner& learner, const TrainingRun& run, const Watch& watch = {});

}  // namespace attn::tasks
