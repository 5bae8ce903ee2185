/// SHA-256: binds a file to another by a short text.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <span>
#include <string>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::text {

/// FIPS 180-4, as 64 small hexadecimal digits.
std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace attn::text
