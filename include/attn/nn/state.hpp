/// Saving and loading what a module learnt, as safetensors.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>
#include <vector>

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

/// How a part of a file is loaded.
struct LoadOptions {
  /// What stands before the module's names in the file, "encoder." for one. Only names that
  /// begin so are looked at.
  std::string prefix{};
  /// Whether a name that only the module or only the file has is an error.
  bool strict = true;
};

struct LoadedState {
  files::Metadata metadata;
  /// Names of the module, with the prefix, that the file lacks: they stay as they were.
  std::vector<std::string> missing;
  std::vector<std::string> left_over;  ///< names of the file that the module lacks
};

/// The same for a part of a file, or for a module that the file fills in part. A tensor of
/// another shape is an InvalidArgument even if not strict, and so is a file that fits no name
/// at all; then nothing is loaded.
///
///     load_state("model.safetensors", encoder, {.prefix = "encoder."});
LoadedState load_state(const std::filesystem::path& path, const Module& module,
                       const LoadOptions& options);

/// Rewrites a saved state with 8 bits a weight: each matrix becomes whole numbers of one byte
/// and a scale for each of its rows, NAME.scale; half of the file. What is small or no matrix
/// stays as it is. load_state reads such files too, each weight to bf16's precision. A file
/// that holds none to compress is an InvalidArgument.
void compress_state(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace attn::nn
