#include "nn/support/padding.hpp"

#include <gtest/gtest.h>

#include <string>

namespace attn::test {
namespace {

TEST(HierarchicalAttention, PaddingChangesNothing) {
  expect_padding_ignored("hierarchical_attention", {{"word_states", "word_lens", 2}});
}

TEST(AttentionOverAttention, PaddingChangesNothing) {
  expect_padding_ignored("attention_over_attention", {{"document", "document_lens"},
                                                      {"document_ids", "document_lens"},
                                                      {"query", "query_lens"}});
}

TEST(MultiStepAttention, PaddingChangesNothing) {
  expect_padding_ignored("multi_step_attention",
                         {{"enc_out", "valid_lens"}, {"enc_embed", "valid_lens"}});
}

TEST(MultiDimensionalAttention, PaddingChangesNothing) {
  for (const char* mask : {"none", "forward", "backward"})
    expect_padding_ignored("multi_dimensional_attention", {{"x", "valid_lens"}},
                           {{"mask", std::string(mask)}});
}

TEST(Cmla, PaddingChangesNothing) {
  expect_padding_ignored("cmla", {{"states", "valid_lens"}});
}

TEST(MemoryNetwork, IdsPastALengthAreNotRead) {
  expect_padding_ignored("memory_network",
                         {{"memories", "memory_word_lens", 2}, {"question", "question_lens"}});
  expect_padding_ignored("memory_network", {{"memories", "memory_lens"}});
}

TEST(KeyValueMemory, PaddingChangesNothing) {
  expect_padding_ignored("key_value_memory",
                         {{"keys", "valid_lens"}, {"values", "valid_lens"}});
}

}  // namespace
}  // namespace attn::test
