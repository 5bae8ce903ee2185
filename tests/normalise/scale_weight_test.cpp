// A gate on weights and its gradient.

#include "attn/normalise/scale_weight.hpp"

#include <gtest/gtest.h>

#include "support/score_laws.hpp"

namespace attn {
namespace {

TEST(ScaleWeight, DualNumbersMatchDifferences) {
  test::Random random("ScaleWeight");
  test::expect_backward_matches_differences(
      test::Factored<normalise::ScaleWeight>{},
      {{{test::kBatches, test::kHeads, test::kQueries, 1}, random}});
}

}  // namespace
}  // namespace attn
