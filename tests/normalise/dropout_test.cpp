// Dropped weights: rate, scale, and the same draws at every position.

#include "attn/normalise/dropout.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace attn {
namespace {

using normalise::Dropout;

TEST(Dropout, KeepsTheMeanAndDropsTheRate) {
  const Dropout dropout{.seed = 3, .rate = 0.25f};
  constexpr int kPlaces = 40000;
  int dropped = 0;
  for (int k = 0; k < kPlaces; ++k) {
    const double factor = dropout.factor(Site<double>{0, 1, k / 200, k % 200});
    if (factor == 0.0) {
      ++dropped;
    } else {
      EXPECT_EQ(factor, 1.0f / 0.75f);
    }
  }
  EXPECT_NEAR(dropped / double{kPlaces}, 0.25, 5 * std::sqrt(0.25 * 0.75 / kPlaces));
}

TEST(Dropout, FloatAndDoubleDropTheSamePlaces) {
  const Dropout dropout{.seed = 9, .rate = 0.5f};
  for (int k = 0; k < 500; ++k)
    EXPECT_EQ(dropout.factor(Site<double>{0, 0, 1, k}) == 0.0,
              dropout.factor(Site<float>{0, 0, 1, k}) == 0.0f);
}

TEST(Dropout, ARateOfZeroKeepsAndOfOneDropsEverything) {
  for (int k = 0; k < 500; ++k) {
    EXPECT_EQ((Dropout{1, 0.0f}.factor(Site<double>{0, 0, 0, k})), 1.0);
    EXPECT_EQ((Dropout{1, 1.0f}.factor(Site<double>{0, 0, 0, k})), 0.0);
  }
}

}  // namespace
}  // namespace attn
