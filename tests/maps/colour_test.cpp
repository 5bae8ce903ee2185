// The colour scale gets darker evenly, and text can be read on every colour.

#include "attn/maps/colour.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attn/maps/map.hpp"

namespace attn::maps {
namespace {

double contrast(Rgb a, Rgb b) {
  const double lighter = std::max(luminance(a), luminance(b));
  const double darker = std::min(luminance(a), luminance(b));
  return (lighter + 0.05) / (darker + 0.05);
}

TEST(ColourScale, GetsDarkerWithEveryStep) {
  for (int i = 0; i < 255; ++i)
    EXPECT_GT(luminance(colour_of(static_cast<float>(i) / 255.0f)),
              luminance(colour_of(static_cast<float>(i + 1) / 255.0f)))
        << i;
}

TEST(ColourScale, RunsFromPaperToNearlyBlack) {
  EXPECT_GT(luminance(colour_of(0.0f)), 0.9);
  EXPECT_LT(luminance(colour_of(1.0f)), 0.03);
}

TEST(ColourScale, EqualDifferencesLookEqual) {
  // CIE lightness, which is another measure than the one the scale was made by.
  const auto lightness = [](float weight) {
    return 116.0 * std::cbrt(luminance(colour_of(weight))) - 16.0;
  };
  const double mean = (lightness(0.0f) - lightness(1.0f)) / 10.0;
  for (int i = 0; i < 10; ++i) {
    const double step =
        lightness(static_cast<float>(i) / 10.0f) - lightness(static_cast<float>(i + 1) / 10.0f);
    EXPECT_GT(step, 0.6 * mean) << i;
    EXPECT_LT(step, 1.5 * mean) << i;
  }
}

TEST(ColourScale, TextCanBeReadOnEveryColour) {
  for (int i = 0; i <= 255; ++i) {
    const Rgb background = colour_of(static_cast<float>(i) / 255.0f);
    EXPECT_GE(contrast(background, text_on(background)), 4.5) << i;
  }
}

TEST(ColourScale, WhatLiesOutsideTakesTheEnds) {
  EXPECT_EQ(colour_of(-3.0f), colour_of(0.0f));
  EXPECT_EQ(colour_of(7.0f), colour_of(1.0f));
  EXPECT_EQ(colour_of(std::numeric_limits<float>::quiet_NaN()), colour_of(0.0f));
  EXPECT_EQ(colour_of(std::numeric_limits<float>::infinity()), colour_of(1.0f));
  EXPECT_EQ(colour_of(0.1f, 0.2f), colour_of(0.5f));
  EXPECT_EQ(colour_of(0.1f, 0.0f), colour_of(0.0f));
}

TEST(ColourScale, ItsTopIsARoundNumberAboveEveryWeight) {
  EXPECT_EQ(top_of(Matrix{}), 1.0f);
  EXPECT_EQ(top_of(Matrix{1, 2, {0.2f, 0.51f}}), 1.0f);
  EXPECT_FLOAT_EQ(top_of(0.5f), 0.5f);
  EXPECT_FLOAT_EQ(top_of(0.11f), 0.2f);
  EXPECT_FLOAT_EQ(top_of(0.1f), 0.1f);
  EXPECT_FLOAT_EQ(top_of(0.0007f), 0.001f);
  EXPECT_EQ(top_of(0.0f), 1.0f);
}

}  // namespace
}  // namespace attn::maps
