// A table of blocks decides, and cover agrees with keep on every tile.

#include "attn/mask/block_sparse.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/mask_laws.hpp"
#include "support/random.hpp"

namespace attn {
namespace {

TEST(BlockSparse, CoverAgreesWithKeepOnEveryTile) {
  test::Random random("BlockSparse");
  for (int trial = 0; trial < 10; ++trial) {
    // [heads = 2, query blocks = 3, key blocks = 4] over 6 queries and 9 keys.
    std::vector<unsigned char> flags(2 * 3 * 4);
    for (auto& flag : flags) flag = static_cast<unsigned char>(random.whole(0, 1));
    test::expect_cover_agrees(mask::BlockSparse{.blocks = flags.data(),
                                                .query_block = 2,
                                                .key_block = 3,
                                                .query_stride = 4,
                                                .head_stride = 12},
                              6, 9);
  }
}

TEST(BlockSparse, AStrideOfZeroSharesTheTable) {
  const std::vector<unsigned char> flags{1, 0};
  const mask::BlockSparse mask{.blocks = flags.data(), .query_block = 4, .key_block = 4};
  EXPECT_TRUE(mask.keep(Site<double>{7, 5, 100, 3}));
  EXPECT_FALSE(mask.keep(Site<double>{7, 5, 100, 4}));
}

}  // namespace
}  // namespace attn
