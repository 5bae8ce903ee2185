/// TrainingRun: one training, what is learnt, how, for how long, where and on what device. It
/// is the file training.json of its folder.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tensor/storage.hpp"

namespace attn::tasks {

/// How a model is trained; a flag for each.
struct TrainingOptions {
  std::int64_t batch_tokens = 4096;  ///< of a step, source and target, padding included
  double rate = 2e-3;                ///< largest; falls as 1 / sqrt(step) after the warm-up
  std::int64_t warm_up = 500;
  double smoothing = 0.1;
  double coverage = 0.0;  ///< weight of the coverage loss
  /// Share of the loss that is the metric itself: draws of the model, each as likely as it is
  /// better than the other draws for its source. Of a model that answers already.
  double self_critical = 0.0;
  double clip = 1.0;   ///< joint norm of the gradients
  double decay = 0.0;  ///< of AdamW
  /// What is scored and saved is a moving average of the weights: it does what a falling rate
  /// does and asks for no number of steps to be known. Polyak and Juditsky, 1992.
  double average = 0.999;
  std::int64_t evaluate_every = 500;  ///< steps
  std::int64_t evaluate_on = 500;     ///< examples of the development part, at most
  std::int64_t patience = 10;         ///< evaluations without a better score; 0: never stops
  std::uint64_t seed = 1;
};

/// When to end; 0: no bound. Steps and epochs count from the first run, minutes from this one.
struct Budget {
  std::int64_t steps = 0;
  std::int64_t epochs = 0;
  double minutes = 0.0;

  bool bounded() const { return steps > 0 || epochs > 0 || minutes > 0.0; }
};

/// Whether to resume from the checkpoint in the folder.
enum class Resume { no, yes };

/// Of the steps of a training.
enum class Precision {
  f32,   ///< as on the CPU
  tf32,  ///< operands of products rounded to 10 bits, on the GPU
  bf16,  ///< parameters and activations, on the GPU; the optimiser keeps masters in f32
};

struct TrainingRun {
  std::string task;
  /// The task's own settings, such as its data and the sizes of its model: an object whose
  /// members stand in training.json beside those below. Task::defaults() has all of them.
  nlohmann::json what = nlohmann::json::object();
  TrainingOptions how;
  /// Models whose mean weights come first; a run that is resumed has them in its checkpoint.
  std::vector<std::filesystem::path> begin;
  Budget budget;

  struct Where {
    std::filesystem::path folder;  ///< model, checkpoint.safetensors and log.jsonl
    Resume resume = Resume::no;
    std::string command;  ///< that began it, for the card of the model
    /// Steps between checkpoints; 0: by the clock, after seconds at first and then every
    /// minute. The first step is saved in any case.
    std::int64_t save_every = 0;
    std::uint64_t shard_bytes = 0;  ///< of a checkpoint's files, at most; 0: one file
  } where;

  struct On {
    Device device = Device::cpu;  ///< of the steps; evaluations run on the CPU
    Precision precision = Precision::f32;
  } on;
};

/// training.json in run.where.folder.
void save_run(const TrainingRun& run);
/// FileError when the folder has none, or a damaged one. Files of older versions are read.
TrainingRun load_run(const std::filesystem::path& folder);

/// All members of training.json of such a run by their paths: "data", "model.dim", ...
std::vector<std::string> run_members(const TrainingRun& run);
/// Those of an object that it does not have.
std::vector<std::string> unknown_members(const nlohmann::json& object, const TrainingRun& run);
/// Sets what the object holds, a part of training.json or all of it; the rest stays as it is.
/// A number may be a text. FileError, which begins with `where`, for an unknown member or a
/// value of another kind.
void read_run(const nlohmann::json& object, const std::string& where, TrainingRun& run);

/// Sets one training option by the name of its flag ("batch-tokens", "rate", ...).
void set_training_option(TrainingOptions& options, std::string_view name,
                         std::string_view value);
/// All of them under those names.
nlohmann::json json_of(const TrainingOptions& options);

struct TrainingFlag {
  std::string name;
  std::string help;
};
/// All of them, in the order of a help text.
const std::vector<TrainingFlag>& training_flags();

/// "f32", "tf32", "bf16".
std::string name_of(Precision precision);
/// By the names that flags take; others are InvalidArgument.
Precision precision_named(std::string_view name);
Device device_named(std::string_view name);

}  // namespace attn::tasks
