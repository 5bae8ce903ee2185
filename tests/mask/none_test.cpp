// The mask that keeps everything.

#include "attn/mask/none.hpp"

#include <gtest/gtest.h>

#include "support/mask_laws.hpp"

namespace attn {
namespace {

TEST(None, KeepsEverything) {
  test::expect_cover_agrees(mask::None{}, 3, 3);
}

}  // namespace
}  // namespace attn
