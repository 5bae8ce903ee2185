/// Concat attention: score(q, k) = v_a . tanh(W_a [q; k]). Luong, Pham and Manning, 2015,
/// arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/attention/luong_attention.hpp"
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
class ConcatAttention : public LuongAttention {
 public:
  explicit ConcatAttention(const ConcatAttentionOptions& options)
      : LuongAttention({.query_dim = options.query_dim,
                        .key_dim = options.key_dim,
                        .score = LuongScore::concat,
                        .hidden_dim = options.hidden_dim}) {}

  /// q [batch, queries, query_dim], k [batch, keys, key_dim], v [batch, keys, value_dim].
  Attended forward(const Tensor& q, const Tensor& k, const Tensor& v, const Keep& keep = {},
                   const Want& want = Want::output) const {
    return LuongAttention::forward(q, read(k, v, {}), 0, {.keep = keep, .want = want});
  }
};

}  // namespace attn::nn
