/// Pictures of a package: PNG files of 8 bits and fewer become red, green, blue and how much
/// they cover.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attn/tasks/value.hpp"

namespace attn::tasks::watch {

struct Sprite {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint8_t> pixels;  ///< [height, width, 4]
};

/// Up to 2048 pixels a side, not interlaced. FileError, which begins with `where`, for others.
Sprite read_sprite(std::span<const std::byte> bytes, const std::string& where);

/// On a square of `side` pixels in white, as large as it fits, a pixel the mean of what
/// it covers: the middle of the sprite is that of the square.
Picture on_white(const Sprite& sprite, std::int64_t side);

}  // namespace attn::tasks::watch
