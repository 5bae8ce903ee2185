// A Gaussian on the score, and the gradients of centre and width.

#include "attn/score/gaussian.hpp"

#include <gtest/gtest.h>

#include "support/score_laws.hpp"

namespace attn {
namespace {

TEST(Gaussian, IsNothingAtTheCentreAndAHalfAtOneSigma) {
  const double centre = 4.0;
  const Table t = table(&centre, {1, 1, 1, 1});
  const score::Gaussian gaussian{2.0f};
  EXPECT_EQ(gaussian.forward(1.0, Site<double>{0, 0, 0, 4}, Params<double>{&t}), 1.0);
  EXPECT_EQ(gaussian.forward(1.0, Site<double>{0, 0, 0, 6}, Params<double>{&t}), 0.5);
  EXPECT_EQ(gaussian.forward(1.0, Site<double>{0, 0, 0, 2}, Params<double>{&t}), 0.5);
}

TEST(Gaussian, BackwardMatchesDifferences) {
  test::Random random("Gaussian");
  const std::array<std::int64_t, 4> per_query{test::kBatches, test::kHeads, test::kQueries, 1};
  test::expect_backward_matches_differences(score::Gaussian{1.5f},
                                            {{per_query, random, 0.0, 6.0}});
  test::expect_backward_matches_differences(
      score::LearnedGaussian{},
      {{per_query, random, 0.0, 6.0}, {{1, test::kHeads, 1, 1}, random, 1.0, 2.0}});
}

}  // namespace
}  // namespace attn
