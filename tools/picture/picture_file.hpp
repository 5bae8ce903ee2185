/// Picture files of others: PNG, JPEG and GIF become rows of red, green and blue.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::picture {

/// What is read of a file before it is refused.
struct Limits {
  std::uint64_t bytes = std::uint64_t{64} << 20;
  /// Of a picture, 8192 x 4096 and the like; a few kilobytes can claim to hold far more.
  std::uint64_t pixels = std::uint64_t{1} << 25;
  /// Of all frames together.
  std::uint64_t film_pixels = std::uint64_t{1} << 26;
  std::int64_t frames = 2000;
};

struct Frame {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t milliseconds = 0;     ///< that it is shown; 0: it does not move
  std::vector<std::uint8_t> pixels;  ///< [height, width, 3]
};

enum class Which { first, all };
using Take = std::function<void(const Frame&)>;

/// Hands over the first frame, or all, by what is in the file, whatever it is called. What is
/// transparent lies over white. Errors are FileErrors that name the file; a header's sizes are
/// compared with the limits before anything is decoded and before memory is taken.
void read_frames(const std::filesystem::path& path, Which which, const Take& take,
                 const Limits& limits = {});

/// The reader of a format, handed what the file holds and how messages call it.
struct Source {
  std::span<const std::byte> bytes;
  std::string where;
  const Limits& limits;
};
Frame read_png(const Source& source);
Frame read_jpeg(const Source& source);
void read_gif(const Source& source, Which which, const Take& take);

/// A frame without its pixels, once its size is within the limits.
Frame frame_of(const Source& source, std::uint64_t width, std::uint64_t height);

}  // namespace attn::picture
