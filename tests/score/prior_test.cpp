// A prior is added with its weight, with gradients.

#include "attn/score/prior.hpp"

#include <gtest/gtest.h>

#include "support/score_laws.hpp"

namespace attn {
namespace {

TEST(Prior, AddsTheWeightedPrior) {
  const std::vector<double> prior{1, 2, 3};
  const Table t = table(prior.data(), {1, 1, 1, 3});
  EXPECT_EQ(score::Prior{0.5f}.forward(1.0, Site<double>{0, 0, 0, 2}, Params<double>{&t}), 2.5);
}

TEST(Prior, BackwardMatchesDifferences) {
  test::Random random("Prior");
  test::expect_backward_matches_differences(
      score::Prior{0.75f}, {{{test::kBatches, 1, test::kQueries, test::kKeys}, random}});
}

}  // namespace
}  // namespace attn
