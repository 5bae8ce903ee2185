// A user's picture becomes a canvas of the size and colours that captioners learn from.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"

namespace attn::tasks {
namespace {

using Pixels = std::vector<std::uint8_t>;

/// A bar of ink: rows [top, top + tall), columns [left, left + wide).
Pixels bar(std::int64_t width, std::int64_t height, std::int64_t left, std::int64_t top,
           std::int64_t wide, std::int64_t tall, std::uint8_t ink = 255,
           std::uint8_t ground = 0) {
  Pixels pixels(static_cast<std::size_t>(width * height), ground);
  for (std::int64_t y = top; y < top + tall; ++y)
    for (std::int64_t x = left; x < left + wide; ++x)
      pixels[static_cast<std::size_t>(y * width + x)] = ink;
  return pixels;
}

struct Extent {
  std::int64_t left = kCanvasSide;
  std::int64_t right = -1;
  std::int64_t top = kCanvasSide;
  std::int64_t bottom = -1;
};

Extent ink_of(const Pixels& canvas) {
  Extent extent;
  for (std::int64_t i = 0; i < kCanvasSide * kCanvasSide; ++i) {
    if (canvas[static_cast<std::size_t>(i)] < 128) continue;
    extent.left = std::min(extent.left, i % kCanvasSide);
    extent.right = std::max(extent.right, i % kCanvasSide);
    extent.top = std::min(extent.top, i / kCanvasSide);
    extent.bottom = std::max(extent.bottom, i / kCanvasSide);
  }
  return extent;
}

TEST(FitToCanvas, LeavesACanvasAsItIs) {
  const Pixels canvas = bar(64, 64, 10, 20, 5, 18, 230, 9);
  EXPECT_EQ(fit_to_canvas(canvas, 64, 64), canvas);
}

TEST(FitToCanvas, TurnsALightBackgroundDark) {
  const Pixels dark = fit_to_canvas(bar(64, 64, 10, 20, 5, 18, 20, 240), 64, 64);
  EXPECT_GE(dark[20 * 64 + 10], 192);
  EXPECT_LE(dark[0], 32);
  // Grey on grey is stretched.
  const Pixels faint = fit_to_canvas(bar(64, 64, 10, 20, 5, 18, 100, 60), 64, 64);
  EXPECT_EQ(faint[20 * 64 + 10], 255);
  EXPECT_EQ(faint[0], 0);
}

TEST(FitToCanvas, KeepsWhereThingsAre) {
  const Extent ink = ink_of(fit_to_canvas(bar(128, 128, 20, 80, 12, 36), 128, 128));
  EXPECT_NEAR(static_cast<double>(ink.left), 10.0, 1.0);
  EXPECT_NEAR(static_cast<double>(ink.top), 40.0, 1.0);
  EXPECT_NEAR(static_cast<double>(ink.bottom - ink.top + 1), 18.0, 1.0);
}

TEST(FitToCanvas, BringsThingsToTheSizeOfDigits) {
  // As large as a digit of MNIST in its own picture, and a speck on a sheet.
  for (const auto& [side, left, tall] :
       {std::tuple{28L, 12L, 20L}, std::tuple{1000L, 300L, 60L}}) {
    const Extent ink =
        ink_of(fit_to_canvas(bar(side, side, left, 4, tall / 4, tall), side, side));
    EXPECT_NEAR(static_cast<double>(ink.bottom - ink.top + 1), 17.0, 2.0) << side;
  }
}

TEST(FitToCanvas, TakesAnyShapeAndNothingAtAll) {
  EXPECT_EQ(fit_to_canvas(Pixels{0}, 1, 1).size(), 4096u);
  const Pixels empty = fit_to_canvas(Pixels(300, 255), 3, 100);
  EXPECT_EQ(*std::max_element(empty.begin(), empty.end()), 0);
  EXPECT_EQ(fit_to_canvas(bar(2000, 3, 500, 1, 20, 1), 2000, 3).size(), 4096u);
  EXPECT_THROW(fit_to_canvas(Pixels(5), 2, 2), InvalidArgument);
  EXPECT_THROW(fit_to_canvas({}, 0, 0), InvalidArgument);
}

}  // namespace
}  // namespace attn::tasks
