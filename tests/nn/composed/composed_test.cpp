// Laws of composed mechanisms: order of memories, sums of probabilities, causality.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/composed/attention_over_attention.hpp"
#include "attn/nn/mechanisms/composed/key_value_memory.hpp"
#include "attn/nn/mechanisms/composed/memory_network.hpp"
#include "attn/nn/mechanisms/composed/multi_dimensional_attention.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "support/tolerance.hpp"

namespace attn::nn {
namespace {

Tensor numbers(const Shape& shape) {
  return uniform(shape, -1, 1, random());
}

TEST(KeyValueMemory, TheOrderOfMemoriesChangesNothing) {
  const KeyValueMemory memory({.features = 5, .dim = 4, .hops = 2});
  const Tensor query = numbers({2, 5});
  const Tensor keys = numbers({2, 6, 5});
  const Tensor values = numbers({2, 6, 5});
  const Tensor answers = numbers({3, 5});
  const Tensor order = permutation(6, random());
  const Tensor a = memory.forward(query, keys, values, answers).logits;
  const Tensor b =
      memory
          .forward(query, index_select(keys, 1, order), index_select(values, 1, order), answers)
          .logits;
  EXPECT_LT(sum(abs(a - b)).item(), 1e-5);
}

TEST(AttentionOverAttention, ProbabilitiesSumToOne) {
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{5, 2}, {2});
  const auto made = attention_over_attention({.document = numbers({2, 5, 3}),
                                              .query = numbers({2, 4, 3}),
                                              .document_ids = Tensor::zeros({2, 5}, DType::i64),
                                              .document_lens = lengths},
                                             3);
  EXPECT_FALSE(made.alpha.defined());
  EXPECT_NEAR(made.word_probs.to_vector<float>()[0], 1.0f, test::kFloatSum);
  EXPECT_NEAR(made.word_probs.to_vector<float>()[3], 1.0f, test::kFloatSum);
}

TEST(TokenToTokenAttention, ATokenDoesNotSeeWhatComesAfter) {
  const TokenToTokenAttention attention({.dim = 3, .order = TokenOrder::forward});
  const Tensor x = numbers({1, 5, 3});
  const Tensor whole = attention.forward(x).output.slice(1, 0, 3);
  const Tensor start = attention.forward(x.slice(1, 0, 3)).output;
  EXPECT_LT(sum(abs(whole - start)).item(), 1e-5);
}

TEST(MemoryNetwork, MoreMemoriesThanTimesAreRefused) {
  const MemoryNetwork network({.vocab_size = 4, .dim = 3, .hops = 1, .temporal_rows = 2});
  const Tensor ids = Tensor::zeros({1, 3, 2}, DType::i64);
  EXPECT_THROW(network.forward({.memories = ids, .question = ids.select(1, 0)}),
               InvalidArgument);
}

}  // namespace
}  // namespace attn::nn
