/// Weights from a file are numbers.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>

#include "attn/nn/module.hpp"

namespace attn::tasks {

/// A FileError that names `path`, the file they came from, when a parameter is not finite: a
/// model with such weights would answer with nothing, and no error.
void check_finite(const nn::Module& module, const std::filesystem::path& path);

}  // namespace attn::tasks
