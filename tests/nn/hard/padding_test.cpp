#include "nn/support/padding.hpp"

#include <gtest/gtest.h>

namespace attn::test {
namespace {

TEST(HardAttention, PaddingChangesNothing) {
  expect_padding_ignored("hard_attention", {{"annotations", "valid_lens"}});
}

TEST(DoublyStochasticAttention, PaddingChangesNothing) {
  expect_padding_ignored("doubly_stochastic", {{"annotations", "valid_lens"}});
}

}  // namespace
}  // namespace attn::test
