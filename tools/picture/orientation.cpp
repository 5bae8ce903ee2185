// SPDX-License-Identifier: Apache-2.0

#include "tools/picture/orientation.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tools/picture/picture_file.hpp"

namespace attn::picture {
namespace {

/// Numbers of a TIFF, whose first byte tells their order. What lies beyond the end is 0.
class Numbers {
 public:
  explicit Numbers(std::span<const std::uint8_t> bytes)
      : bytes_(bytes), big_(!bytes.empty() && bytes[0] == 'M') {}

  std::uint32_t at(std::size_t offset, std::size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return 0;
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < size; ++i)
      number = number << 8U | bytes_[offset + (big_ ? i : size - 1 - i)];
    return number;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  bool big_;
};

}  // namespace

int orientation_of(std::span<const std::uint8_t> note) {
  using namespace std::string_view_literals;
  constexpr std::string_view kExif = "Exif\0\0"sv;
  constexpr std::uint32_t kOrientation = 0x0112;
  if (note.size() < kExif.size() ||
      std::string_view(reinterpret_cast<const char*>(note.data()), kExif.size()) != kExif)
    return 1;
  const Numbers tiff(note.subspan(kExif.size()));
  if (tiff.at(2, 2) != 42) return 1;
  const std::size_t list = tiff.at(4, 4);
  const std::uint32_t entries = tiff.at(list, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = list + 2 + 12 * i;
    if (tiff.at(entry, 2) != kOrientation) continue;
    const std::uint32_t orientation = tiff.at(entry + 8, 2);
    return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : 1;
  }
  return 1;
}

Frame upright(Frame frame, int orientation) {
  if (orientation <= 1) return frame;
  // 5 to 8 lie on their side; of each kind some are seen in a mirror.
  const bool lies = orientation >= 5;
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_below =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Frame turned;
  turned.width = lies ? frame.height : frame.width;
  turned.height = lies ? frame.width : frame.height;
  turned.milliseconds = frame.milliseconds;
  turned.pixels.resize(frame.pixels.size());
  std::size_t to = 0;
  for (std::int64_t y = 0; y < turned.height; ++y)
    for (std::int64_t x = 0; x < turned.width; ++x) {
      std::int64_t column = lies ? y : x;
      std::int64_t row = lies ? x : y;
      if (from_right) column = frame.width - 1 - column;
      if (from_below) row = frame.height - 1 - row;
      const auto from = static_cast<std::size_t>((row * frame.width + column) * 3);
      for (std::size_t channel = 0; channel < 3; ++channel)
        turned.pixels[to++] = frame.pixels[from + channel];
    }
  return turned;
}

}  // namespace attn::picture
