// Windows around a shifted query, with and without bounds.

#include "attn/mask/sliding_window.hpp"

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

namespace attn {
namespace {

TEST(SlidingWindow, CoverAgreesWithKeepOnEveryTile) {
  for (const int left : {-1, 0, 1, 3}) {
    for (const int right : {-1, 0, 2}) {
      for (const int offset : {-12, -2, 0, 3, 12}) {
        SCOPED_TRACE(testing::Message() << left << " " << right << " " << offset);
        test::expect_cover_agrees(mask::SlidingWindow{left, right, offset}, 6, 8);
      }
    }
  }
}

TEST(SlidingWindow, CountsFromTheShiftedQuery) {
  const mask::SlidingWindow window{.left = 2, .right = 1, .offset = 3};
  for (int k = 0; k < 12; ++k)
    EXPECT_EQ(window.keep(Site<double>{0, 0, 4, k}), 5 <= k && k <= 8) << "key " << k;
}

TEST(SlidingWindow, NegativeExtentsHaveNoBound) {
  EXPECT_EQ((mask::SlidingWindow{}.cover({0, 0, {0, 9}, {0, 1000000}})), Cover::all);
}

}  // namespace
}  // namespace attn
