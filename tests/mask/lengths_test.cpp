// Lengths of a sequence or of each query, and cover agrees with keep.

#include "attn/mask/lengths.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/mask_laws.hpp"

namespace attn {
namespace {

TEST(Lengths, CoverAgreesWithKeepOnEveryTile) {
  for (const std::vector<int>& lengths :
       {std::vector<int>{0, 8}, std::vector<int>{3, 5}, std::vector<int>{1, 100}})
    test::expect_cover_agrees(mask::Lengths{lengths.data()}, 4, 8);
}

TEST(Lengths, EachQueryMayHaveItsOwn) {
  const std::vector<int> lengths{0, 3, 1, 8, 5, 5, 5, 2};
  const mask::Lengths mask{.lengths = lengths.data(), .batch_stride = 4, .query_stride = 1};
  test::expect_cover_agrees(mask, 4, 8);
  EXPECT_TRUE(mask.keep(Site<double>{1, 0, 3, 1}));
  EXPECT_FALSE(mask.keep(Site<double>{1, 0, 3, 2}));
}

}  // namespace
}  // namespace attn
