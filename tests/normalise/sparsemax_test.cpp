// Sparsemax agrees with its definition by sorting and gives exact zeros, with gradients.

#include "attn/normalise/sparsemax.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/normaliser_laws.hpp"

namespace attn {
namespace {

using normalise::Sparsemax;

TEST(Sparsemax, StreamsInAnyChunks) {
  test::expect_streams(Sparsemax{}, test::Total::one);
}
TEST(Sparsemax, EmptyRowsAreZero) {
  test::expect_empty_rows_are_zero(Sparsemax{});
}
TEST(Sparsemax, HugeScoresStayFinite) {
  test::expect_huge_scores_stay_finite(Sparsemax{});
}
TEST(Sparsemax, GradientMatchesDifferences) {
  test::expect_gradient_matches_differences(Sparsemax{});
}

TEST(Sparsemax, GivesExactZeros) {
  const std::vector<double> w =
      test::weights_of(Sparsemax{}, std::vector<double>{1.0, 0.5, -0.5, -INFINITY});
  EXPECT_EQ(w, (std::vector<double>{0.75, 0.25, 0.0, 0.0}));
}

TEST(Sparsemax, EqualScoresShareEqually) {
  const std::vector<float> w = test::weights_of(Sparsemax{}, std::vector<float>(8, 3.0f));
  for (const float x : w) EXPECT_FLOAT_EQ(x, 0.125f);
}

TEST(Sparsemax, AgreesWithTheSortedDefinition) {
  test::Random random("Sparsemax");
  for (int trial = 0; trial < 200; ++trial) {
    const auto count = static_cast<std::size_t>(random.whole(1, 40));
    const std::vector<double> s = random.numbers(count, -2.0, trial % 2 == 0 ? 2.0 : -1.9);
    std::vector<double> sorted = s;
    std::sort(sorted.rbegin(), sorted.rend());
    double sum = 0.0, tau = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
      sum += sorted[k];
      const double next = (sum - 1.0) / static_cast<double>(k + 1);
      if (sorted[k] > next) tau = next;
    }
    const double got = Sparsemax{}.solve(s.data(), static_cast<int>(count), Site<double>{});
    EXPECT_TRUE(test::close(got, tau, test::tolerance(DType::f64, static_cast<int>(count))));
  }
}

}  // namespace
}  // namespace attn
