// A dense bias, shared along any axis, with gradients.

#include "attn/score/bias.hpp"

#include <gtest/gtest.h>

#include "support/score_laws.hpp"

namespace attn {
namespace {

TEST(Bias, AddsTheEntryOfThePair) {
  const std::vector<double> entries{1, 2, 3, 4, 5, 6};
  const Table t = table(entries.data(), {1, 1, 2, 3});
  EXPECT_EQ(score::Bias{}.forward(0.5, Site<double>{0, 0, 1, 2}, Params<double>{&t, 0, 0, 1}),
            6.5);
}

TEST(Bias, BackwardMatchesDifferencesForEveryBroadcast) {
  test::Random random("Bias");
  test::expect_backward_matches_differences(score::Bias{},
                                            {{{1, 1, test::kQueries, test::kKeys}, random}});
  test::expect_backward_matches_differences(score::Bias{},
                                            {{{test::kBatches, 1, 1, test::kKeys}, random}});
  test::expect_backward_matches_differences(
      score::Bias{}, {{{test::kBatches, test::kHeads, test::kQueries, test::kKeys}, random}});
}

}  // namespace
}  // namespace attn
