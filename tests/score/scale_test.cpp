// A constant and a learnt factor, with gradients.

#include "attn/score/scale.hpp"

#include <gtest/gtest.h>

#include "support/score_laws.hpp"

namespace attn {
namespace {

TEST(Scale, MultipliesTheScore) {
  EXPECT_EQ(score::Scale{0.125f}.forward(16.0, Site<double>{}), 2.0);
}

TEST(Scale, BackwardMatchesDifferences) {
  test::expect_backward_matches_differences(score::Scale{0.125f});
}

TEST(LearnedScale, BackwardMatchesDifferencesForEveryBroadcast) {
  test::Random random("LearnedScale");
  test::expect_backward_matches_differences(score::LearnedScale{}, {{{1, 1, 1, 1}, random}});
  test::expect_backward_matches_differences(score::LearnedScale{},
                                            {{{1, test::kHeads, 1, 1}, random}});
  test::expect_backward_matches_differences(
      score::LearnedScale{}, {{{test::kBatches, test::kHeads, test::kQueries, 1}, random}});
}

TEST(LearnedScale, AMaskedScoreLeavesNoNanInTheTable) {
  const double scale = 2.0;
  double d_scale = 0.0;
  const Table t = table(&scale, {1, 1, 1, 1});
  const TableGrad g = table_grad(&d_scale, {1, 1, 1, 1});
  const double ds = score::LearnedScale{}.backward(0.0, -double{INFINITY}, Site<double>{},
                                                   Params<double>{&t}, ParamGrads<double>{&g});
  EXPECT_EQ(ds, 0.0);
  EXPECT_EQ(d_scale, 0.0);
}

}  // namespace
}  // namespace attn
