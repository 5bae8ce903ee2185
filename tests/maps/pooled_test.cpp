// Blocks of a pooled matrix hold every weight exactly once.

#include "attn/maps/pooled.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "support/random.hpp"

namespace attn::maps {
namespace {

TEST(Pooled, WhatFitsStaysAsItWas) {
  const Matrix small{2, 3, {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f}};
  EXPECT_EQ(pooled(small, 2, 3), small);
  EXPECT_EQ(pooled(small, 100, 100), small);
  EXPECT_EQ(pooled(Matrix{0, 9, {}}, 4, 4).values.size(), 0u);
}

TEST(Pooled, ABlockIsItsLargest) {
  const Matrix matrix{2, 4, {0.0f, 0.2f, 0.4f, 0.0f, 0.6f, 0.0f, 0.0f, 0.4f}};
  EXPECT_EQ(pooled(matrix, 1, 2), (Matrix{1, 2, {0.6f, 0.4f}}));
  EXPECT_EQ(pooled(matrix, 2, 1), (Matrix{2, 1, {0.4f, 0.6f}}));
}

TEST(Pooled, EveryWeightIsInExactlyOneBlockAtOddSizes) {
  test::Random random("pooled");
  for (int round = 0; round < 50; ++round) {
    const auto rows = static_cast<std::size_t>(random.whole(1, 23));
    const auto columns = static_cast<std::size_t>(random.whole(1, 37));
    const Matrix matrix{rows, columns, random.numbers<float>(rows * columns, 0.0, 1.0)};
    const Matrix seen = pooled(matrix, 7, 5);
    ASSERT_EQ(seen.rows, std::min<std::size_t>(7, rows));
    ASSERT_EQ(seen.columns, std::min<std::size_t>(5, columns));
    // Each weight, looked up by the block it falls into, is no larger than the block's.
    std::size_t count = 0;
    for (std::size_t i = 0; i < seen.rows; ++i)
      for (std::size_t j = 0; j < seen.columns; ++j) {
        float largest = 0.0f;
        for (std::size_t r = block_begin(i, seen.rows, rows);
             r < block_begin(i + 1, seen.rows, rows); ++r)
          for (std::size_t c = block_begin(j, seen.columns, columns);
               c < block_begin(j + 1, seen.columns, columns); ++c) {
            largest = std::max(largest, matrix.at(r, c));
            ++count;
          }
        EXPECT_EQ(seen.at(i, j), largest);
      }
    EXPECT_EQ(count, matrix.values.size());
  }
}

TEST(Pooled, NoBlocksAreRefused) {
  EXPECT_THROW((void)pooled(Matrix{1, 1, {1.0f}}, 0, 3), InvalidArgument);
}

}  // namespace
}  // namespace attn::maps
