/// Training: steps over batches, evaluations, checkpoints and a log, so that a run that was
/// killed goes on to the same losses.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tensor/storage.hpp"

namespace attn::tasks {

/// When to end; 0: no bound. Steps and epochs count from the first run, minutes from this one.
struct Budget {
  std::int64_t steps = 0;
  std::int64_t epochs = 0;
  double minutes = 0.0;
};

/// Whether a checkpoint that lies in the folder is gone on from.
enum class Resume { no, yes };

struct TrainingPlan {
  TrainingOptions options;
  Budget budget;
  Metric metric = Metric::bleu;
  std::vector<EncodedPair> train;
  std::vector<Example> development;
  std::filesystem::path folder;  ///< model, checkpoint.safetensors and log.jsonl
  std::string what;              ///< what is trained; a checkpoint of something else is refused
  std::string command;           ///< for the card of the model
  std::string data = "{}";       ///< what it learns from, for the card: a JSON object
  Resume resume = Resume::no;
  /// Steps between checkpoints; 0: by the clock, after seconds at first and then every minute.
  /// The first step is saved in any case.
  std::int64_t save_every = 0;
  std::uint64_t shard_bytes = 0;  ///< of a checkpoint's files, at most; 0: one file
  Device device = Device::cpu;    ///< of the steps; evaluations run on the CPU
  /// Of parameters and activations in the steps: f32, or bf16 on the GPU, where the optimiser
  /// keeps masters in f32.
  DType precision = DType::f32;
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

/// Trains model.model and keeps the best model in the folder. What it does depends on the plan
/// alone: neither threads nor interruptions change a bit.
Trained train(PairModel& model, const TrainingPlan& plan, const Watch& watch);

/// `most` examples at most, spread evenly over all: parts are often sorted.
std::vector<Example> spread(const std::vector<Example>& all, std::int64_t most);

/// The answers of the model to the examples, judged.
Scores evaluate(const PairModel& model, std::span<const Example> examples, Metric metric,
                const models::SearchOptions& options);

}  // namespace attn::tasks
