// And, or and not of masks: cover is safe for every expression.

#include "attn/mask/combine.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "attn/mask/causal.hpp"
#include "attn/mask/lengths.hpp"
#include "attn/mask/sliding_window.hpp"
#include "support/mask_laws.hpp"

namespace attn {
namespace {

TEST(Combine, CoverIsSafeForEveryExpression) {
  const std::vector<int> lengths{2, 6};
  const mask::Causal causal{1};
  const mask::Lengths padding{lengths.data()};
  const mask::SlidingWindow window{1, 1, 0};
  test::expect_cover_agrees(causal && padding, 5, 7, test::Answers::safe);
  test::expect_cover_agrees(causal || padding, 5, 7, test::Answers::safe);
  test::expect_cover_agrees(!window && (causal || padding), 5, 7, test::Answers::safe);
  test::expect_cover_agrees(!causal, 5, 7);
}

TEST(Combine, OperatorsAndWordsSayTheSame) {
  const mask::Causal causal = mask::Causal::top_left();
  const mask::SlidingWindow window{1, 1, 0};
  for (int q = 0; q < 4; ++q) {
    for (int k = 0; k < 4; ++k) {
      const Site<double> at{0, 0, q, k};
      const bool a = causal.keep(at);
      const bool b = window.keep(at);
      EXPECT_EQ(mask::both(causal, window).keep(at), a && b);
      EXPECT_EQ((causal && window).keep(at), a && b);
      EXPECT_EQ(mask::either(causal, window).keep(at), a || b);
      EXPECT_EQ((causal || window).keep(at), a || b);
      EXPECT_EQ(mask::negate(causal).keep(at), !a);
      EXPECT_EQ((!causal).keep(at), !a);
    }
  }
}

}  // namespace
}  // namespace attn
