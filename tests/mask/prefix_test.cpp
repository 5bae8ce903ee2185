// A prefix for everybody and causal behind it, and cover agrees with keep.

#include "attn/mask/prefix.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "attn/mask/causal.hpp"
#include "support/mask_laws.hpp"

namespace attn {
namespace {

TEST(Prefix, CoverAgreesWithKeepOnEveryTile) {
  const std::vector<int> lengths{0, 99, 5};
  for (const int offset : {-4, 0, 2}) {
    test::expect_cover_agrees(mask::Prefix{.length = 3, .offset = offset}, 6, 8);
    test::expect_cover_agrees(
        mask::Prefix{.offset = offset, .lengths = lengths.data(), .batch_stride = 2}, 6, 8);
  }
}

TEST(Prefix, IsThePrefixOrCausal) {
  const mask::Prefix prefix{.length = 3};
  for (int q = 0; q < 6; ++q)
    for (int k = 0; k < 6; ++k)
      EXPECT_EQ(prefix.keep(Site<double>{0, 0, q, k}), k < 3 || k <= q) << q << ", " << k;
}

}  // namespace
}  // namespace attn
