/// Flags for everything a training run can be asked, as one list for all commands that train.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tasks/prepare.hpp"
#include "attn/tasks/trainer.hpp"
#include "attn/tensor/storage.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace attn::tools {

/// Of the steps of a training.
enum class Precision {
  f32,   ///< as on the CPU
  tf32,  ///< operands of products rounded to 10 bits
  bf16,  ///< parameters and activations; the optimiser keeps masters in f32
};

/// What was given on the command line; applied to a request, the task's own or a saved one.
struct TrainingFlags {
  std::vector<std::pair<std::string, std::string>> model;     ///< option of ModelOptions, value
  std::vector<std::pair<std::string, std::string>> training;  ///< option of TrainingOptions
  std::string language;
  std::string data;
  std::string source_column;
  std::string target_column;
  std::vector<std::string> begin;  ///< model folders
  std::string source_units;
  std::string target_units;
  long vocabulary = 0;
  long source_tokens = 0;  ///< 0: as the task has it
  long target_tokens = 0;
  tasks::Budget budget;
  Device device = Device::cpu;
  Precision precision = Precision::f32;
};

/// The task as the first word behind the command; wrong names are wrong usage.
/// `more` are tasks that do not learn from pairs.
void add_task_argument(CLI::App& command, std::string& task,
                       const std::vector<std::string>& more = {});
/// --threads.
void add_threads_flag(CLI::App& command, int& threads);
/// --precision.
void add_precision_flag(CLI::App& command, Precision& precision);
/// --device and --precision as they are typed, where they are not the defaults.
std::string device_text(const TrainingFlags& flags);
/// Has products of this thread made so; throws, naming the command, where the device has no
/// such precision.
void use_precision(const TrainingFlags& flags, const std::string& command);
/// Of parameters and activations.
DType steps_in(Precision precision);
std::string name_of(Precision precision);
/// By the names that --device and --precision take; others are InvalidArgument.
Device device_named(const std::string& name);
Precision precision_named(const std::string& name);

/// The flags of model and training.
void add_model_flags(CLI::App& command, TrainingFlags& flags);
void add_training_flags(CLI::App& command, TrainingFlags& flags);
/// --epochs, --minutes, --steps.
void add_budget_flags(CLI::App& command, TrainingFlags& flags);
/// --data, --source-column, --target-column, --language.
void add_data_flags(CLI::App& command, TrainingFlags& flags);
/// --source-units, --target-units, --vocabulary, --source-tokens, --target-tokens.
void add_token_flags(CLI::App& command, TrainingFlags& flags);

void apply(const TrainingFlags& flags, tasks::TrainingRequest& request);

}  // namespace attn::tools
