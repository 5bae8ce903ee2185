#include "nn/support/padding.hpp"

#include <gtest/gtest.h>

#include <string>

namespace attn::test {
namespace {

TEST(LocalAttention, PaddingChangesNothing) {
  for (const char* name : {"local_monotonic", "local_predictive"})
    expect_padding_ignored(name, {{"keys", "valid_lens"}, {"values", "valid_lens"}});
}

}  // namespace
}  // namespace attn::test
