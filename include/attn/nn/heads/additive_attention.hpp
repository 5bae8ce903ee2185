/// Additive attention as a layer: the additive score, with dropout of the weights in training.
/// Bahdanau, Cho and Bengio, 2015, arXiv:1409.0473.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/score/additive.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

struct AdditiveAttentionOptions {
  std::int64_t query_dim;
  std::int64_t key_dim;
  std::int64_t hidden_dim;
  double dropout = 0.0;  ///< of the weights, while training
};

/// out = softmax(w_v . tanh(W_q q + W_k k)) v. Parameters W_q.weight [hidden_dim, query_dim],
/// W_k.weight [hidden_dim, key_dim], w_v.weight [1, hidden_dim].
class AdditiveAttention : public AdditiveScore {
 public:
  explicit AdditiveAttention(const AdditiveAttentionOptions& options);

  /// q [batch, queries, query_dim], k [batch, keys, key_dim], v [batch, keys, value_dim].
  Attended forward(const Tensor& q, const Tensor& k, const Tensor& v, const Keep& keep = {},
                   const Want& want = Want::output) const;

 private:
  double dropout_;
};

}  // namespace attn::nn
