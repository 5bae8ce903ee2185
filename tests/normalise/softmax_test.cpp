// Softmax: streaming, sums, empty rows, huge scores, gradients, log-sum-exp.

#include "attn/normalise/softmax.hpp"

#include <gtest/gtest.h>

#include "support/normaliser_laws.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

using normalise::Softmax;

TEST(Softmax, StreamsInAnyChunksAndSumsToOne) {
  test::expect_streams(Softmax{}, test::Total::one);
}
TEST(Softmax, EmptyRowsAreZero) {
  test::expect_empty_rows_are_zero(Softmax{});
}
TEST(Softmax, HugeScoresStayFinite) {
  test::expect_huge_scores_stay_finite(Softmax{});
}
TEST(Softmax, GradientMatchesDifferences) {
  test::expect_gradient_matches_differences(Softmax{});
}

TEST(Softmax, TheStatIsTheLogSumExp) {
  const std::vector<double> s{std::log(1.0), std::log(2.0), -INFINITY, std::log(5.0)};
  EXPECT_NEAR(test::run_row(Softmax{}, s, s, 1).stat, std::log(8.0), test::kDouble);
  EXPECT_NEAR(test::weights_of(Softmax{}, s)[3], 0.625, test::kDouble);
}

TEST(Softmax, ARowWithoutKeysHasMinusInfinityAsStat) {
  const Row<double> row = Softmax{}.finish(-double{INFINITY}, 0.0, Params<double>{});
  EXPECT_EQ(row.scale, 0.0);
  EXPECT_EQ(row.stat, -INFINITY);
  EXPECT_EQ(Softmax{}.rescale(-double{INFINITY}, -double{INFINITY}), 0.0);
}

}  // namespace
}  // namespace attn
