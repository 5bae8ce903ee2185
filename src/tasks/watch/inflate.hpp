/// Inflating: the compression of PNG and zlib undone, within a bound that the caller knows.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace attn::tasks::watch {

/// What a zlib stream holds (RFC 1950, 1951), which has to be `size` bytes. FileError, which
/// begins with `where`, for anything else; nothing beyond `size` bytes is ever taken.
std::vector<std::uint8_t> inflated(std::span<const std::uint8_t> bytes, std::size_t size,
                                   const std::string& where);

}  // namespace attn::tasks::watch
