// Scores over the number of kept keys: streaming, empty rows, gradients.

#include "attn/normalise/mean.hpp"

#include <gtest/gtest.h>

#include "support/normaliser_laws.hpp"

namespace attn {
namespace {

using normalise::Mean;

TEST(Mean, StreamsInAnyChunks) {
  test::expect_streams(Mean{}, test::Total::any);
}
TEST(Mean, EmptyRowsAreZero) {
  test::expect_empty_rows_are_zero(Mean{});
}
TEST(Mean, HugeScoresStayFinite) {
  test::expect_huge_scores_stay_finite(Mean{});
}
TEST(Mean, GradientMatchesDifferences) {
  test::expect_gradient_matches_differences(Mean{});
}

TEST(Mean, DividesByTheKeptKeysEvenWhereTheyScoreZero) {
  EXPECT_EQ(test::weights_of(Mean{}, std::vector<double>{-2.0, 0.0, -INFINITY, 4.0, 0.0}),
            (std::vector<double>{-0.5, 0.0, 0.0, 1.0, 0.0}));
}

}  // namespace
}  // namespace attn
