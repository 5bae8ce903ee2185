/// --device, and models where it says.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>

#include "attn/tasks/caption.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tensor/storage.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace attn::tools {

/// --device.
void add_device_flag(CLI::App& command, Device& device, const std::string& help);

/// Throws, naming the command, where the device is not there.
void check_device(Device device, const std::string& command);

/// The model of a folder, on the device, for any thread to use.
tasks::PairModel load_model_on(Device device, const std::filesystem::path& folder,
                               const std::string& command);
tasks::CaptionModel load_caption_model_on(Device device, const std::filesystem::path& folder,
                                          const std::string& command);

}  // namespace attn::tools
