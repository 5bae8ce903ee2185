/// Names the format of a file that was given in place of safetensors.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <span>
#include <string>

namespace attn::files {

/// Bytes of the beginning that are enough to tell.
inline constexpr std::size_t kForeignHead = 128;

/// What the file is and how it becomes safetensors, or nothing when its beginning is not known.
std::string foreign_format(std::span<const std::byte> head);

}  // namespace attn::files
