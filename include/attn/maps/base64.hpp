/// Base64, which carries the pixels of an image inside JSON.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::maps {

/// The standard alphabet with padding (RFC 4648, section 4).
std::string to_base64(std::span<const std::uint8_t> bytes);

/// Nothing unless the text is exactly what to_base64 writes: no line breaks, no other alphabet,
/// no stray bits.
std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text);

}  // namespace attn::maps
