// A flag for each pair, in any layout.

#include "attn/mask/dense.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/mask_laws.hpp"
#include "support/random.hpp"

namespace attn {
namespace {

TEST(Dense, ReadsAnyLayout) {
  test::Random random("Dense");
  std::vector<unsigned char> flags(2 * 2 * 3 * 4);
  for (auto& flag : flags) flag = static_cast<unsigned char>(random.whole(0, 1));
  const mask::Dense packed{flags.data(), 24, 12, 4, 1};
  const mask::Dense turned{flags.data(), 24, 12, 1, 3};
  for (int b = 0; b < 2; ++b) {
    for (int h = 0; h < 2; ++h) {
      for (int q = 0; q < 3; ++q) {
        for (int k = 0; k < 4; ++k) {
          const Site<double> at{b, h, q, k};
          const int base = 24 * b + 12 * h;
          EXPECT_EQ(packed.keep(at), flags[static_cast<std::size_t>(base + 4 * q + k)] != 0);
          EXPECT_EQ(turned.keep(at), flags[static_cast<std::size_t>(base + q + 3 * k)] != 0);
        }
      }
    }
  }
  test::expect_cover_agrees(packed, 3, 4, test::Answers::safe);
}

}  // namespace
}  // namespace attn
