/// `attn train --config`: a file that says what the flags would.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "attn/tasks/task.hpp"

namespace attn::tools {

/// The members of training.json, or some of them, as tasks::read_run takes them. FileError
/// for one that there is not, with the nearest that there is, and for another task. Paths that
/// are not absolute begin in the folder of the file.
nlohmann::json read_config(const std::filesystem::path& path, const tasks::Task& task);

}  // namespace attn::tools
