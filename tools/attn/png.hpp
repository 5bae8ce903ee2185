/// PNG files as grey pictures, and back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace attn::tools {

struct GreyPicture {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint8_t> pixels;  ///< row by row, 255 is white
};

/// Colours become grey, what is transparent lies over white. A file that is no PNG, is damaged
/// or absurdly large is a FileError that names it; sizes are looked at before memory is taken.
GreyPicture read_png(const std::filesystem::path& path);

/// Replaced atomically.
void write_png(const std::filesystem::path& path, std::span<const std::uint8_t> pixels,
               std::int64_t width, std::int64_t height);

}  // namespace attn::tools
