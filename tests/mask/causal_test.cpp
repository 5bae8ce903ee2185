// Causal masks in both alignments, and cover agrees with keep on every tile.

#include "attn/mask/causal.hpp"

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

namespace attn {
namespace {

TEST(Causal, CoverAgreesWithKeepOnEveryTile) {
  for (const int offset : {-9, -3, 0, 2, 9}) {
    SCOPED_TRACE(offset);
    test::expect_cover_agrees(mask::Causal{offset}, 7, 9);
  }
}

TEST(Causal, BottomRightLinesTheLastQueryUpWithTheLastKey) {
  const mask::Causal causal = mask::Causal::bottom_right(3, 8);
  EXPECT_TRUE(causal.keep(Site<double>{0, 0, 2, 7}));
  EXPECT_TRUE(causal.keep(Site<double>{0, 0, 0, 5}));
  EXPECT_FALSE(causal.keep(Site<double>{0, 0, 0, 6}));
}

TEST(Causal, TopLeftLinesTheFirstQueryUpWithTheFirstKey) {
  const mask::Causal causal = mask::Causal::top_left();
  EXPECT_TRUE(causal.keep(Site<double>{0, 0, 0, 0}));
  EXPECT_FALSE(causal.keep(Site<double>{0, 0, 0, 1}));
}

TEST(Causal, WithFewerKeysThanQueriesTheFirstQueriesSeeNothing) {
  const mask::Causal causal = mask::Causal::bottom_right(5, 2);
  EXPECT_EQ(causal.cover({0, 0, {0, 3}, {0, 2}}), Cover::none);
  EXPECT_TRUE(causal.keep(Site<double>{0, 0, 3, 0}));
}

}  // namespace
}  // namespace attn
