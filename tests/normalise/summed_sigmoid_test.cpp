// Sigmoids over their sum: streaming, empty rows, gradients.

#include "attn/normalise/summed_sigmoid.hpp"

#include <gtest/gtest.h>

#include "support/normaliser_laws.hpp"

namespace attn {
namespace {

using normalise::SummedSigmoid;

TEST(SummedSigmoid, StreamsInAnyChunks) {
  test::expect_streams(SummedSigmoid{}, test::Total::one);
}
TEST(SummedSigmoid, EmptyRowsAreZero) {
  test::expect_empty_rows_are_zero(SummedSigmoid{});
}
TEST(SummedSigmoid, HugeScoresStayFinite) {
  test::expect_huge_scores_stay_finite(SummedSigmoid{});
}
TEST(SummedSigmoid, GradientMatchesDifferences) {
  test::expect_gradient_matches_differences(SummedSigmoid{});
}

TEST(SummedSigmoid, SharesByTheSigmoids) {
  const std::vector<double> w =
      test::weights_of(SummedSigmoid{}, std::vector<double>{0.0, 5000.0, -INFINITY, 5000.0});
  EXPECT_EQ(w, (std::vector<double>{0.2, 0.4, 0.0, 0.4}));
}

}  // namespace
}  // namespace attn
