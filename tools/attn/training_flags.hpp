/// Flags for everything a training run can be told, as one list for all commands that train.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <initializer_list>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tensor/storage.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace attn::tools {

/// What was given on the command line.
struct TrainingFlags {
  std::map<std::string, std::string> settings{};                ///< of tasks, by their flags
  std::vector<std::pair<std::string, std::string>> training{};  ///< option of TrainingOptions
  std::vector<std::string> begin{};                             ///< model folders
  tasks::Budget budget{};
  Device device = Device::cpu;
  tasks::Precision precision = tasks::Precision::f32;
};

/// The task as the first word behind the command, or one of the others; wrong names are wrong
/// usage.
void add_task_argument(CLI::App& command, std::string& task,
                       const std::vector<std::string>& others = {});
/// --threads.
void add_threads_flag(CLI::App& command, int& threads);
/// --precision.
void add_precision_flag(CLI::App& command, tasks::Precision& precision);
/// Has products of this thread made so; throws, naming the command, where the device has no
/// such precision.
void use_precision(const tasks::TrainingRun::On& on, const std::string& command);

/// The flags of all tasks' settings that are about these things.
void add_setting_flags(CLI::App& command, TrainingFlags& flags,
                       std::initializer_list<tasks::Setting::About> about);
void add_training_flags(CLI::App& command, TrainingFlags& flags);
/// --epochs, --minutes, --steps.
void add_budget_flags(CLI::App& command, TrainingFlags& flags);

/// What the flags ask of a run, as a part of training.json; device and precision are not among
/// it. InvalidArgument, which names the command, for a flag that the task does not have.
nlohmann::json asked_by(const TrainingFlags& flags, const tasks::Task& task,
                        const std::string& command);
/// The task's own run with what is asked on top of it, which `where` tells of in errors.
tasks::TrainingRun resolved(const tasks::Task& task, const nlohmann::json& asked,
                            const std::string& where, const tasks::Corpus* corpus);

/// The flags as they are typed, for the card of a model; files by their names alone.
std::string flags_text(const TrainingFlags& flags, const tasks::Task& task);

}  // namespace attn::tools
