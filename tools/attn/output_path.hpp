/// Whether a result can be written where it is asked for, told before the work and not after.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>

namespace attn::tools {

/// Throws a FileError where no file could be written: no such folder, or one that is not ours.
void check_output_file(const std::filesystem::path& path);

/// The same for a folder; it, and those above it, may have to be made.
void check_output_folder(const std::filesystem::path& folder);

}  // namespace attn::tools
