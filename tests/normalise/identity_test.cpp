// Scores as weights: streaming, empty rows, gradients.

#include "attn/normalise/identity.hpp"

#include <gtest/gtest.h>

#include "support/normaliser_laws.hpp"

namespace attn {
namespace {

using normalise::Identity;

TEST(Identity, StreamsInAnyChunks) {
  test::expect_streams(Identity{}, test::Total::any);
}
TEST(Identity, EmptyRowsAreZero) {
  test::expect_empty_rows_are_zero(Identity{});
}
TEST(Identity, HugeScoresStayFinite) {
  test::expect_huge_scores_stay_finite(Identity{});
}
TEST(Identity, GradientMatchesDifferences) {
  test::expect_gradient_matches_differences(Identity{});
}

TEST(Identity, TheScoresAreTheWeights) {
  EXPECT_EQ(test::weights_of(Identity{}, std::vector<double>{-1.5, 0.0, -INFINITY, 2.0}),
            (std::vector<double>{-1.5, 0.0, 0.0, 2.0}));
}

}  // namespace
}  // namespace attn
