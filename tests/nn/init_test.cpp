// How parameters begin: from a stream that a seed sets, or as zeros where a file follows.

#include "attn/nn/init.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {
namespace {

bool all_zero(const Module& module) {
  for (const Tensor& parameter : module.parameters()) {
    const std::vector<float> values = parameter.to_vector<float>();
    if (!std::all_of(values.begin(), values.end(), [](float x) { return x == 0.0f; }))
      return false;
  }
  return true;
}

MultiHeadAttention heads() {
  return MultiHeadAttention({.query_dim = 4,
                             .key_dim = 4,
                             .value_dim = 4,
                             .hidden_dim = 4,
                             .heads = 2,
                             .bias = Bias::learnt,
                             .convention = kSelfHeads});
}

TEST(ZeroStart, DrawsNothingWhileItLives) {
  seed(5);
  const std::vector<float> wanted = uniform_within({3}, 1.0).to_vector<float>();
  seed(5);
  {
    const ZeroStart outer;
    {
      const ZeroStart inner;
      EXPECT_TRUE(all_zero(Linear({.in = 3, .out = 2})));
    }
    EXPECT_TRUE(starts_at_zero());
    EXPECT_TRUE(all_zero(Embedding({.rows = 3, .features = 2})));
    EXPECT_TRUE(all_zero(heads()));
  }
  EXPECT_FALSE(starts_at_zero());
  EXPECT_EQ(uniform_within({3}, 1.0).to_vector<float>(), wanted);
  EXPECT_FALSE(all_zero(heads()));
}

}  // namespace
}  // namespace attn::nn
