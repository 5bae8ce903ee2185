// The Gaussian on weights, and the gradient of its centre.

#include "attn/normalise/local_gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/score_laws.hpp"

namespace attn {
namespace {

using normalise::LocalGaussian;

TEST(LocalGaussian, IsOneAtTheCentre) {
  const double centre = 3.0;
  const Table t = table(&centre, {1, 1, 1, 1});
  const LocalGaussian gaussian{2.0f};
  EXPECT_EQ(gaussian.factor(Site<double>{0, 0, 0, 3}, Params<double>{&t}), 1.0);
  EXPECT_EQ(gaussian.factor(Site<double>{0, 0, 0, 5}, Params<double>{&t}), std::exp(-0.5));
}

TEST(LocalGaussian, DualNumbersMatchDifferences) {
  test::Random random("LocalGaussian");
  test::expect_backward_matches_differences(
      test::Factored<LocalGaussian>{{1.5f}},
      {{{test::kBatches, test::kHeads, test::kQueries, 1}, random, 0.0, 6.0}});
}

}  // namespace
}  // namespace attn
