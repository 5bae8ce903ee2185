/// Saving and loading what a module learnt, as safetensors.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>

#include "attn/core/dtype.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/nn/module.hpp"

namespace attn::nn {

/// Parameters and buffers under their names; the file is replaced atomically. `dtype` of the
/// file may be narrower than the module's.
void save_state(const std::filesystem::path& path, const Module& module,
                const files::Metadata& metadata = {});
void save_state(const std::filesystem::path& path, const Module& module, DType dtype,
                const files::Metadata& metadata = {});

/// Fills the module and returns the file's metadata. Missing, extra and misshapen names are one
/// InvalidArgument that lists them all, and then nothing is loaded.
files::Metadata load_state(const std::filesystem::path& path, const Module& module);

}  // namespace attn::nn
