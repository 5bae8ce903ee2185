/// Flags for everything a training run can be asked, as one list for all commands that train.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/prepare.hpp"
#include "attn/tasks/trainer.hpp"
#include "attn/tensor/storage.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace attn::tools {

/// What was given on the command line; applied to a request, the task's own or a saved one.
struct TrainingFlags {
  std::vector<std::pair<std::string, std::string>> model;     ///< option of ModelOptions, value
  std::vector<std::pair<std::string, std::string>> training;  ///< option of TrainingOptions
  std::string language;
  std::string data;
  std::string source_units;
  std::string target_units;
  long vocabulary = 0;
  tasks::Budget budget;
  Device device = Device::cpu;
};

/// The task as the first word behind the command; wrong names are wrong usage.
/// `more` are tasks that do not learn from pairs.
void add_task_argument(CLI::App& command, std::string& task,
                       const std::vector<std::string>& more = {});
/// --threads.
void add_threads_flag(CLI::App& command, int& threads);
/// --device.
void add_device_flag(CLI::App& command, Device& device,
                     const std::string& help =
                         "Where steps are computed; evaluations run on "
                         "the CPU");
/// Throws, naming the command, where the device is not there.
void check_device(Device device, const std::string& command);

/// The flags of model and training.
void add_model_flags(CLI::App& command, TrainingFlags& flags);
void add_training_flags(CLI::App& command, TrainingFlags& flags);
/// --epochs, --minutes, --steps.
void add_budget_flags(CLI::App& command, TrainingFlags& flags);
/// --data, --language, --source-units, --target-units, --vocabulary.
void add_data_flags(CLI::App& command, TrainingFlags& flags);

void apply(const TrainingFlags& flags, tasks::TrainingRequest& request);

}  // namespace attn::tools
