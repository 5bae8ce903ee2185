// ALiBi falls with the distance at the paper's slopes, with gradients.

#include "attn/score/alibi.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/score_laws.hpp"

namespace attn {
namespace {

TEST(Alibi, FallsWithTheDistanceFromTheShiftedQuery) {
  const double slope = 0.5;
  const Table t = table(&slope, {1, 1, 1, 1});
  const Params<double> p{&t};
  const score::Alibi alibi{2};
  EXPECT_EQ(alibi.forward(1.0, Site<double>{0, 0, 3, 5}, p), 1.0);
  EXPECT_EQ(alibi.forward(1.0, Site<double>{0, 0, 3, 1}, p), -1.0);
  EXPECT_EQ(alibi.forward(1.0, Site<double>{0, 0, 3, 7}, p), 0.0);
}

TEST(Alibi, BackwardMatchesDifferences) {
  test::Random random("Alibi");
  test::expect_backward_matches_differences(score::Alibi{1},
                                            {{{1, test::kHeads, 1, 1}, random}});
}

TEST(AlibiSlopes, AreTheGeometricSeriesForPowersOfTwo) {
  std::vector<double> slopes(8);
  score::fill_alibi_slopes(slopes.data(), 8);
  for (int h = 0; h < 8; ++h)
    EXPECT_EQ(slopes[static_cast<std::size_t>(h)], std::exp2(-(h + 1))) << "head " << h;
}

TEST(AlibiSlopes, OtherHeadsTakeEverySecondSlopeOfTheNextList) {
  std::vector<double> slopes(6), twice(8);
  score::fill_alibi_slopes(slopes.data(), 6);
  score::fill_alibi_slopes(twice.data(), 8);
  EXPECT_EQ(slopes[0], 0.25);
  EXPECT_EQ(slopes[3], std::exp2(-8.0));
  EXPECT_EQ(slopes[4], twice[0]);
  EXPECT_EQ(slopes[5], twice[2]);
}

}  // namespace
}  // namespace attn
