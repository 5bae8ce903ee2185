/// Running another program and waiting for it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks {

enum class Ended { well, badly, not_started };

/// Runs a program found on PATH with nothing to read. What it writes goes to the file `out`,
/// what it complains of to `errors` (the same file when empty).
Ended run_program(const std::vector<std::string>& arguments, const std::filesystem::path& out,
                  const std::filesystem::path& errors = {});

/// The last lines of what a program complained of, made safe to show; "" when there are none.
std::string complaint(const std::filesystem::path& log);

}  // namespace attn::tasks
