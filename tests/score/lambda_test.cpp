// A lambda is a score modifier, with tables and gradients.

#include "attn/score/lambda.hpp"

#include <gtest/gtest.h>

#include "support/score_laws.hpp"

namespace attn {
namespace {

TEST(Lambda, IsAScoreLikeAnyOther) {
  const auto by_head = score::lambda([](auto s, auto at) {
    using V = decltype(s);
    return s * 2.0f - real<V>(at.k - at.q);
  });
  EXPECT_EQ(by_head.forward(3.0, Site<double>{0, 0, 1, 5}), 2.0);
  EXPECT_EQ(by_head.forward(3.0f, Site<float>{0, 0, 1, 5}), 2.0f);
}

TEST(Lambda, KeepsWhatItCaptured) {
  const float slope = 0.5f;
  const auto scaled = score::lambda([slope](auto s, auto) { return slope * s; });
  EXPECT_EQ(scaled.forward(3.0, Site<double>{}), 1.5);
}

TEST(Lambda, IsDifferentiatedByDualNumbers) {
  test::expect_backward_matches_differences(score::lambda([](auto s, auto at) {
    using V = decltype(s);
    return select(s > V(0.0f), tanh(s) * s, exp(s) - 1.0f) / real<V>(at.k + 1);
  }));
}

TEST(Lambda, ReadsTablesAndGivesTheirGradients) {
  test::Random random("Lambda");
  // The product of two reads of one table needs both of their slopes.
  test::expect_backward_matches_differences(
      score::lambda<2>([](auto s, auto at, const auto& p) {
        return s * p.value(0) + p.at(1, 2) * p.along(1, at) * s;
      }),
      {{{1, test::kHeads, 1, 1}, random}, {{1, 1, 1, test::kKeys}, random}});
}

}  // namespace
}  // namespace attn
