/// --device, and models where it says.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <memory>
#include <string>

#include "attn/tasks/task.hpp"
#include "attn/tensor/storage.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace attn::tools {

/// --device.
void add_device_flag(CLI::App& command, Device& device, const std::string& help);

/// Throws, naming the command, where the device is not there.
void check_device(Device device, const std::string& command);

/// Moves a model there, for any thread to use; throws where it does not compute there.
void move_model(const tasks::Model& model, Device device, const std::string& command);

/// The model in a folder, on the device, for any thread to use. InvalidArgument where it is of
/// another task.
std::shared_ptr<const tasks::Model> load_model_of(const tasks::Task& task, Device device,
                                                  const std::filesystem::path& folder,
                                                  const std::string& command);

/// The model of a variant that was taken into the cache (Task::taken), on that device; null
/// where a folder holds it.
std::shared_ptr<const tasks::Model> taken_model_of(const tasks::Task& task, Device device,
                                                   const std::string& variant,
                                                   const std::string& command);

}  // namespace attn::tools
