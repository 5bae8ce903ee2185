#include "tasks/watch/sprite.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/watch/inflate.hpp"

namespace attn::tasks::watch {
namespace {

constexpr std::uint32_t kMostSide = 2048;
constexpr std::array<std::uint8_t, 8> kSignature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
constexpr std::uint8_t kWhite = 255;

enum Colour : int { grey = 0, rgb = 2, palette = 3, grey_alpha = 4, rgba = 6 };

class SpriteReader {
 public:
  SpriteReader(std::span<const std::byte> bytes, const std::string& where) : where_(where) {
    for (const std::byte one : bytes) bytes_.push_back(static_cast<std::uint8_t>(one));
  }

  Sprite read() {
    if (bytes_.size() < kSignature.size() ||
        !std::equal(kSignature.begin(), kSignature.end(), bytes_.begin()))
      fail<FileError>(where_, " is no PNG file");
    for (std::size_t at = kSignature.size(); !ended_;) at = chunk(at);
    if (channels_ == 0 || data_.empty()) fail<FileError>(where_, " has no picture");
    const std::size_t row = (width_ * channels_ * depth_ + 7) / 8;
    std::vector<std::uint8_t> lines = inflated(data_, (row + 1) * height_, where_);
    unfilter(lines, row);
    return painted(lines, row);
  }

 private:
  std::uint32_t number(std::size_t at) const {
    if (at + 4 > bytes_.size()) fail<FileError>(where_, " is cut off");
    return static_cast<std::uint32_t>(bytes_[at]) << 24U |
           static_cast<std::uint32_t>(bytes_[at + 1]) << 16U |
           static_cast<std::uint32_t>(bytes_[at + 2]) << 8U | bytes_[at + 3];
  }

  /// Where the next one begins.
  std::size_t chunk(std::size_t at) {
    const std::size_t length = number(at);
    number(at + 4);
    if (length > bytes_.size() || at + 12 + length > bytes_.size())
      fail<FileError>(where_, " is cut off");
    const std::string name(bytes_.begin() + static_cast<std::ptrdiff_t>(at + 4),
                           bytes_.begin() + static_cast<std::ptrdiff_t>(at + 8));
    const std::span<const std::uint8_t> inside = std::span(bytes_).subspan(at + 8, length);
    if (name == "IHDR") header(inside);
    if (name == "PLTE") palette_.assign(inside.begin(), inside.end());
    if (name == "tRNS") clear_.assign(inside.begin(), inside.end());
    if (name == "IDAT") data_.insert(data_.end(), inside.begin(), inside.end());
    ended_ = name == "IEND";
    return at + 12 + length;
  }

  void header(std::span<const std::uint8_t> inside) {
    if (inside.size() != 13 || channels_ != 0) fail<FileError>(where_, ": a damaged header");
    const auto side = [&](std::size_t at) {
      return static_cast<std::uint32_t>(inside[at]) << 24U |
             static_cast<std::uint32_t>(inside[at + 1]) << 16U |
             static_cast<std::uint32_t>(inside[at + 2]) << 8U | inside[at + 3];
    };
    const std::uint32_t wide = side(0);
    const std::uint32_t high = side(4);
    if (wide < 1 || high < 1 || wide > kMostSide || high > kMostSide)
      fail<FileError>(where_, ": ", wide, " x ", high, " pixels; up to ", kMostSide,
                      " a side are read");
    width_ = wide;
    height_ = high;
    depth_ = inside[8];
    colour_ = inside[9];
    constexpr std::array<std::size_t, 7> kChannels{1, 0, 3, 1, 2, 0, 4};
    const bool narrow = colour_ == grey || colour_ == palette;
    const bool fits = colour_ <= rgba && kChannels[static_cast<std::size_t>(colour_)] > 0 &&
                      (depth_ == 8 || (narrow && (depth_ == 1 || depth_ == 2 || depth_ == 4)));
    if (!fits || inside[12] != 0)
      fail<FileError>(where_, ": PNG of ", depth_, " bits, kind ", colour_,
                      inside[12] != 0 ? ", interlaced" : "", " is not read");
    channels_ = kChannels[static_cast<std::size_t>(colour_)];
  }

  static std::uint8_t nearest(int left, int above, int corner) {
    const int guess = left + above - corner;
    const int a = std::abs(guess - left);
    const int b = std::abs(guess - above);
    const int c = std::abs(guess - corner);
    return static_cast<std::uint8_t>(a <= b && a <= c ? left : b <= c ? above : corner);
  }

  void unfilter(std::vector<std::uint8_t>& lines, std::size_t row) const {
    const std::size_t step = std::max<std::size_t>(1, channels_ * depth_ / 8);
    for (std::size_t y = 0; y < height_; ++y) {
      std::uint8_t* line = lines.data() + y * (row + 1) + 1;
      const int filter = line[-1];
      if (filter > 4) fail<FileError>(where_, ": a line has the filter ", filter);
      for (std::size_t x = 0; x < row; ++x) {
        const int left = x >= step ? line[x - step] : 0;
        const int above = y > 0 ? *(line + x - (row + 1)) : 0;
        const int corner = y > 0 && x >= step ? *(line + (x - step) - (row + 1)) : 0;
        const int added = filter == 1   ? left
                          : filter == 2 ? above
                          : filter == 3 ? (left + above) / 2
                          : filter == 4 ? nearest(left, above, corner)
                                        : 0;
        line[x] = static_cast<std::uint8_t>(line[x] + added);
      }
    }
  }

  std::size_t sample(const std::uint8_t* line, std::size_t at) const {
    if (depth_ == 8) return line[at];
    const std::size_t bit = at * depth_;
    return (line[bit / 8] >> (8 - depth_ - bit % 8)) & ((1U << depth_) - 1U);
  }

  Sprite painted(const std::vector<std::uint8_t>& lines, std::size_t row) const {
    Sprite sprite{static_cast<std::int64_t>(width_), static_cast<std::int64_t>(height_), {}};
    sprite.pixels.reserve(width_ * height_ * 4);
    for (std::size_t y = 0; y < height_; ++y) {
      const std::uint8_t* line = lines.data() + y * (row + 1) + 1;
      for (std::size_t x = 0; x < width_; ++x) {
        const auto pixel = colour_of(line, x);
        sprite.pixels.insert(sprite.pixels.end(), pixel.begin(), pixel.end());
      }
    }
    return sprite;
  }

  std::array<std::uint8_t, 4> colour_of(const std::uint8_t* line, std::size_t x) const {
    const auto at = [&](std::size_t channel) {
      return static_cast<std::uint8_t>(sample(line, x * channels_ + channel));
    };
    if (colour_ == palette) {
      const std::size_t entry = at(0);
      if (3 * entry + 2 >= palette_.size())
        fail<FileError>(where_, ": a pixel has a colour that there is not");
      return {palette_[3 * entry], palette_[3 * entry + 1], palette_[3 * entry + 2],
              entry < clear_.size() ? clear_[entry] : std::uint8_t{255}};
    }
    const unsigned most = (1U << depth_) - 1U;
    if (colour_ == grey || colour_ == grey_alpha) {
      const auto light = static_cast<std::uint8_t>(at(0) * 255U / most);
      return {light, light, light, colour_ == grey ? std::uint8_t{255} : at(1)};
    }
    return {at(0), at(1), at(2), colour_ == rgb ? std::uint8_t{255} : at(3)};
  }

  std::vector<std::uint8_t> bytes_;
  const std::string& where_;
  std::size_t width_ = 0;
  std::size_t height_ = 0;
  std::size_t depth_ = 8;
  int colour_ = 0;
  std::size_t channels_ = 0;
  std::vector<std::uint8_t> palette_;
  std::vector<std::uint8_t> clear_;
  std::vector<std::uint8_t> data_;
  bool ended_ = false;
};

}  // namespace

Sprite read_sprite(std::span<const std::byte> bytes, const std::string& where) {
  return SpriteReader(bytes, where).read();
}

Picture on_white(const Sprite& sprite, std::int64_t side) {
  const std::int64_t extent = std::max(sprite.width, sprite.height);
  Picture picture{side, side, 3, {}};
  picture.pixels.assign(static_cast<std::size_t>(side * side * 3), kWhite);
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x) {
      const auto begin = [&](std::int64_t i, std::int64_t own) {
        return i * extent / side - (extent - own) / 2;
      };
      const std::int64_t x_end =
          std::max(begin(x, sprite.width) + 1, begin(x + 1, sprite.width));
      const std::int64_t y_end =
          std::max(begin(y, sprite.height) + 1, begin(y + 1, sprite.height));
      std::array<std::int64_t, 3> sums{};
      std::int64_t count = 0;
      for (std::int64_t v = begin(y, sprite.height); v < y_end; ++v)
        for (std::int64_t u = begin(x, sprite.width); u < x_end; ++u) {
          ++count;
          const bool inside = u >= 0 && v >= 0 && u < sprite.width && v < sprite.height;
          const std::uint8_t* pixel =
              inside ? sprite.pixels.data() + (v * sprite.width + u) * 4 : nullptr;
          for (std::size_t channel = 0; channel < 3; ++channel)
            sums[channel] +=
                inside ? (pixel[channel] * pixel[3] + kWhite * (255 - pixel[3])) / 255 : kWhite;
        }
      for (std::size_t channel = 0; channel < 3; ++channel)
        picture.pixels[static_cast<std::size_t>((y * side + x) * 3) + channel] =
            static_cast<std::uint8_t>(sums[channel] / count);
    }
  return picture;
}

}  // namespace attn::tasks::watch
