// 16-bit floats round to nearest even and survive the trip through float bit by bit.

#include "attn/core/dtype.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace attn {
namespace {

TEST(Float16, EveryPatternSurvivesTheTripThroughFloat) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float wide = static_cast<float>(half);
    const Float16 back(wide);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(back))) << bits;
    } else {
      ASSERT_EQ(back.bits, half.bits) << wide;
    }
  }
}

TEST(BFloat16, EveryPatternSurvivesTheTripThroughFloat) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    BFloat16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float wide = static_cast<float>(half);
    const BFloat16 back(wide);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(back))) << bits;
    } else {
      ASSERT_EQ(back.bits, half.bits) << wide;
    }
  }
}

// The middle between neighbours goes to the even one, what is past it to the nearer one.
TEST(Float16, RoundsToNearestEven) {
  for (unsigned bits = 0; bits + 1 < 0x7c00; ++bits) {
    Float16 low, high;
    low.bits = static_cast<std::uint16_t>(bits);
    high.bits = static_cast<std::uint16_t>(bits + 1);
    const float a = static_cast<float>(low), b = static_cast<float>(high);
    const float middle = (a + b) / 2;
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(Float16(middle).bits, even) << middle;
    ASSERT_EQ(Float16(-middle).bits, even | 0x8000u) << middle;
    ASSERT_EQ(Float16(std::nextafter(middle, a)).bits, bits) << middle;
    ASSERT_EQ(Float16(std::nextafter(middle, b)).bits, bits + 1) << middle;
  }
}

TEST(BFloat16, RoundsToNearestEven) {
  for (unsigned bits = 0; bits + 1 < 0x7f80; ++bits) {
    const auto middle = std::bit_cast<float>((bits << 16) | 0x8000u);
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(BFloat16(middle).bits, even) << middle;
    ASSERT_EQ(BFloat16(std::nextafter(middle, 0.0f)).bits, bits) << middle;
    ASSERT_EQ(BFloat16(std::nextafter(middle, INFINITY)).bits, bits + 1) << middle;
  }
}

TEST(Float16, OverflowsToInfinityFromHalfAStepPastTheLargest) {
  EXPECT_EQ(static_cast<float>(Float16(65504.0f)), 65504.0f);
  EXPECT_EQ(static_cast<float>(Float16(65519.996f)), 65504.0f);
  EXPECT_EQ(static_cast<float>(Float16(65520.0f)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(static_cast<float>(Float16(-1e30f)), -std::numeric_limits<float>::infinity());
}

TEST(DType, SizesAndNames) {
  EXPECT_EQ(size_of(DType::f64), sizeof(double));
  EXPECT_EQ(size_of(DType::bf16), sizeof(BFloat16));
  EXPECT_EQ(size_of(DType::f16), sizeof(Float16));
  EXPECT_EQ(size_of(DType::i32), sizeof(std::int32_t));
  EXPECT_EQ(size_of(DType::boolean), sizeof(bool));
  EXPECT_EQ(name_of(DType::bf16), "bf16");
  EXPECT_EQ(kDType<float>, DType::f32);
  EXPECT_EQ(kDType<std::int64_t>, DType::i64);
}

}  // namespace
}  // namespace attn
