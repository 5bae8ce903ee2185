/// Concat attention: score(q, k) = v_a . tanh(W_a [q; k]). Luong, Pham and Manning, 2015,
/// arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

struct ConcatAttentionOptions {
  std::int64_t query_dim;
  std::int64_t key_dim;
  std::int64_t hidden_dim;
};

/// w = softmax(v_a . tanh(W_a [q; k])), context = w v, the query first. W_a [q; k] is W_a's
/// first columns times q plus its last times k, so no pair is ever joined.
class ConcatAttention : public Module {
 public:
  explicit ConcatAttention(const ConcatAttentionOptions& options);

  /// q [batch, queries, query_dim], k [batch, keys, key_dim], v [batch, keys, value_dim].
  Attended forward(const Tensor& q, const Tensor& k, const Tensor& v, const Keep& keep = {},
                   const Want& want = Want::output) const;

 private:
  std::int64_t query_dim_;
  Linear w_a_;  ///< "W_a" [hidden_dim, query_dim + key_dim], no bias
  Tensor v_a_;  ///< "v_a" [hidden_dim]
};

}  // namespace attn::nn
