#include "nn/support/padding.hpp"

#include <gtest/gtest.h>

namespace attn::test {
namespace {

TEST(CoAttention, PaddingChangesNothing) {
  for (const char* name : {"co_attention_parallel", "co_attention_alternating"})
    expect_padding_ignored(name, {{"image", "image_lens"}, {"question", "question_lens"}});
}

TEST(QuestionHierarchy, PaddingChangesNothing) {
  expect_padding_ignored("question_hierarchy", {{"words", "valid_lens"}});
}

}  // namespace
}  // namespace attn::test
