/// Multi-head attention: several attentions side by side, each on its share of the features.
/// Vaswani et al., 2017, arXiv:1706.03762.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

struct MultiHeadAttentionOptions {
  std::int64_t query_dim;
  std::int64_t key_dim;
  std::int64_t value_dim;
  std::int64_t hidden_dim;  ///< of all heads together, and of the output
  std::int64_t heads;       ///< divides hidden_dim
  Bias bias = Bias::none;
  double dropout = 0.0;  ///< of the weights, while training
};

/// head_a = softmax(W_q q (W_k k)^T / sqrt(hidden_dim / heads)) W_v v on features
/// a * hidden_dim / heads and following; out = W_o [head_0; head_1; ...]. A query without keys
/// gets W_o's bias.
class MultiHeadAttention : public Module {
 public:
  explicit MultiHeadAttention(const MultiHeadAttentionOptions& options);

  /// q [batch, queries, query_dim], k [batch, keys, key_dim], v [batch, keys, value_dim];
  /// output [batch, queries, hidden_dim], weights [batch, heads, queries, keys].
  Attended forward(const Tensor& q, const Tensor& k, const Tensor& v, const Keep& keep = {},
                   const Want& want = Want::output) const;

 private:
  std::int64_t heads_;
  double dropout_;
  Linear w_q_;  ///< "W_q" [hidden_dim, query_dim]
  Linear w_k_;  ///< "W_k" [hidden_dim, key_dim]
  Linear w_v_;  ///< "W_v" [hidden_dim, value_dim]
  Linear w_o_;  ///< "W_o" [hidden_dim, hidden_dim]
};

}  // namespace attn::nn
