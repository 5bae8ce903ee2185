// SPDX-License-Identifier: Apache-2.0

#include "drawing/overlay.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "attn/maps/map.hpp"
#include "attn/maps/pooled.hpp"
#include "drawing/canvas.hpp"

namespace attn::drawing {
namespace {

/// Pixels along the longer side of a panel: sharp on paper, small in a file.
constexpr std::size_t kPanelPixels = 384;
/// The picture still shows through the strongest weight.
constexpr float kStrongest = 0.8f;

/// The mean of a block of the picture.
Rgb mean_of(const maps::Image& image, std::size_t row, std::size_t row_end, std::size_t column,
            std::size_t column_end) {
  std::uint64_t total[3] = {0, 0, 0};
  for (std::size_t y = row; y < row_end; ++y)
    for (std::size_t x = column; x < column_end; ++x)
      for (std::size_t c = 0; c < 3; ++c)
        total[c] +=
            image
                .pixels[(y * image.width + x) * image.channels + (image.channels == 3 ? c : 0)];
  const std::uint64_t count = (row_end - row) * (column_end - column);
  return {static_cast<std::uint8_t>(total[0] / count),
          static_cast<std::uint8_t>(total[1] / count),
          static_cast<std::uint8_t>(total[2] / count)};
}

/// Between the middles of cells; the outermost reach to the border.
struct Between {
  std::size_t low;
  std::size_t high;
  float share;  ///< of `high`

  Between(double place, std::size_t cells) {
    const double at = std::clamp(place * static_cast<double>(cells) - 0.5, 0.0,
                                 static_cast<double>(cells - 1));
    low = static_cast<std::size_t>(at);
    high = std::min(low + 1, cells - 1);
    share = static_cast<float>(at - static_cast<double>(low));
  }
};

float smooth(const maps::Matrix& grid, const Between& y, const Between& x) {
  const float above =
      grid.at(y.low, x.low) * (1.0f - x.share) + grid.at(y.low, x.high) * x.share;
  const float below =
      grid.at(y.high, x.low) * (1.0f - x.share) + grid.at(y.high, x.high) * x.share;
  return above * (1.0f - y.share) + below * y.share;
}

}  // namespace

Rgb mixed(Rgb under, float share) {
  // A place of many has a small weight; the root keeps it in sight.
  const float part = kStrongest * std::sqrt(std::clamp(share, 0.0f, 1.0f));
  const auto mix = [&](std::uint8_t below, std::uint8_t over) {
    return static_cast<std::uint8_t>(std::lround(static_cast<float>(below) * (1.0f - part) +
                                                 static_cast<float>(over) * part));
  };
  return {mix(under.red, kOverlay.red), mix(under.green, kOverlay.green),
          mix(under.blue, kOverlay.blue)};
}

Pixels blended(const maps::Image& image, const maps::Matrix* grid, float top) {
  // A small picture grows by a whole factor, a large one shrinks by means of blocks.
  const std::size_t longer = std::max(image.width, image.height);
  const std::size_t factor = std::max<std::size_t>(1, kPanelPixels / longer);
  const double shrink =
      std::min(1.0, static_cast<double>(kPanelPixels) / static_cast<double>(longer));
  const auto blocks = [&](std::size_t side) {
    return std::max<std::size_t>(
        1, static_cast<std::size_t>(std::lround(static_cast<double>(side) * shrink)));
  };
  const std::size_t rows = blocks(image.height);
  const std::size_t columns = blocks(image.width);
  Pixels pixels{columns * factor, rows * factor, {}};
  pixels.values.reserve(pixels.width * pixels.height);
  for (std::size_t y = 0; y < pixels.height; ++y) {
    const std::size_t row = y / factor;
    for (std::size_t x = 0; x < pixels.width; ++x) {
      const std::size_t column = x / factor;
      Rgb colour = mean_of(image, maps::block_begin(row, rows, image.height),
                           maps::block_begin(row + 1, rows, image.height),
                           maps::block_begin(column, columns, image.width),
                           maps::block_begin(column + 1, columns, image.width));
      if (grid != nullptr) {
        const Between down((static_cast<double>(y) + 0.5) / static_cast<double>(pixels.height),
                           grid->rows);
        const Between across((static_cast<double>(x) + 0.5) / static_cast<double>(pixels.width),
                             grid->columns);
        colour = mixed(colour, smooth(*grid, down, across) / top);
      }
      pixels.values.push_back(static_cast<std::uint32_t>(colour.red) << 16 |
                              static_cast<std::uint32_t>(colour.green) << 8 | colour.blue);
    }
  }
  return pixels;
}

}  // namespace attn::drawing
