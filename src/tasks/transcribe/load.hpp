/// Which model of transcribe a folder holds.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <memory>

#include "attn/tasks/task.hpp"

namespace attn::tasks {

/// Of a folder without a config.json: a package of Moonshine. FileError, which names the
/// folder, for anything else.
std::unique_ptr<Model> load_transcriber(const std::filesystem::path& folder);

}  // namespace attn::tasks
