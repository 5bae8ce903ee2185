// Pictures of any size and colours become what models read.

#include "tasks/pictures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks {
namespace {

Picture ramp(std::int64_t width, std::int64_t height, std::int64_t channels) {
  Picture picture{width, height, channels, {}};
  for (std::int64_t i = 0; i < width * height * channels; ++i)
    picture.pixels.push_back(static_cast<std::uint8_t>(i * 7 % 251));
  return picture;
}

double mean_of(const Picture& picture) {
  return std::accumulate(picture.pixels.begin(), picture.pixels.end(), 0.0) /
         static_cast<double>(picture.pixels.size());
}

TEST(TaskPictures, GreyIsHowLightAColourIs) {
  const Picture colours{4, 1, 3, {255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0}};
  EXPECT_EQ(grey_of(colours), (std::vector<std::uint8_t>{255, 0, 76, 150}));
  const Picture grey = ramp(5, 3, 1);
  EXPECT_EQ(grey_of(grey), grey.pixels);
  EXPECT_EQ(grey_of(in_colour(grey)), grey.pixels) << "there and back";
  EXPECT_EQ(in_colour(colours), colours);
  EXPECT_THROW(grey_of(ramp(2, 2, 4)), InvalidArgument);
  EXPECT_THROW(in_colour(ramp(2, 2, 2)), InvalidArgument);
}

TEST(TaskPictures, WhatFitsStaysAsItIs) {
  const Picture picture = ramp(16, 16, 3);
  EXPECT_EQ(fitted(picture, 16), picture);
}

TEST(TaskPictures, ASquareKeepsItsMeanAtEverySize) {
  for (const std::int64_t channels : {1, 3})
    for (const std::int64_t side : {1, 2, 7, 31, 64, 100}) {
      const Picture square = ramp(side, side, channels);
      const Picture other = fitted(square, 32);
      ASSERT_EQ(other.pixels.size(), static_cast<std::size_t>(32 * 32 * channels));
      EXPECT_LT(std::abs(mean_of(other) - mean_of(square)), 1.0) << side;
    }
}

TEST(TaskPictures, TheRestOfTheSquareHasTheColourOfTheRim) {
  // A dark bar in the middle of a wide light picture.
  Picture wide{40, 10, 1, std::vector<std::uint8_t>(400, 200)};
  for (std::size_t x = 15; x < 25; ++x) wide.pixels[5 * 40 + x] = 0;
  const Picture square = fitted(wide, 20);
  EXPECT_EQ(square.pixels.front(), 200);
  EXPECT_EQ(square.pixels.back(), 200);
  const auto darkest = std::min_element(square.pixels.begin(), square.pixels.end());
  const auto at = static_cast<std::size_t>(darkest - square.pixels.begin());
  EXPECT_LT(*darkest, 150);
  EXPECT_TRUE(at / 20 >= 8 && at / 20 < 12) << "in the middle, at row " << at / 20;
  // One pixel high, a thousand wide.
  EXPECT_EQ(fitted(ramp(1000, 1, 3), 8).pixels.size(), 8u * 8 * 3);
  EXPECT_THROW(fitted(ramp(2, 2, 1), 0), InvalidArgument);
}

}  // namespace
}  // namespace attn::tasks
