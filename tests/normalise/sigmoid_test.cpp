// Sigmoid weights: streaming, empty rows, huge scores, gradients.

#include "attn/normalise/sigmoid.hpp"

#include <gtest/gtest.h>

#include "support/normaliser_laws.hpp"

namespace attn {
namespace {

using normalise::Sigmoid;

TEST(Sigmoid, StreamsInAnyChunks) {
  test::expect_streams(Sigmoid{}, test::Total::any);
}
TEST(Sigmoid, EmptyRowsAreZero) {
  test::expect_empty_rows_are_zero(Sigmoid{});
}
TEST(Sigmoid, HugeScoresStayFinite) {
  test::expect_huge_scores_stay_finite(Sigmoid{});
}
TEST(Sigmoid, GradientMatchesDifferences) {
  test::expect_gradient_matches_differences(Sigmoid{});
}

TEST(Sigmoid, EachWeightStandsAlone) {
  EXPECT_EQ(test::weights_of(Sigmoid{}, std::vector<double>{0.0, -INFINITY, 5000.0}),
            (std::vector<double>{0.5, 0.0, 1.0}));
}

}  // namespace
}  // namespace attn
