/// General attention: score(q, k) = q^T W k, a learnt similarity of different spaces.
/// Luong, Pham and Manning, 2015, arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/attention/luong_attention.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

struct GeneralAttentionOptions {
  std::int64_t query_dim;
  std::int64_t key_dim;
};

/// w = softmax(q^T W_a k), context = w v. The keys are projected once: W_a k.
class GeneralAttention : public LuongAttention {
 public:
  explicit GeneralAttention(const GeneralAttentionOptions& options)
      : LuongAttention({.query_dim = options.query_dim,
                        .key_dim = options.key_dim,
                        .score = LuongScore::general}) {}

  /// q [batch, queries, query_dim], k [batch, keys, key_dim], v [batch, keys, value_dim].
  Attended forward(const Tensor& q, const Tensor& k, const Tensor& v, const Keep& keep = {},
                   const Want& want = Want::output) const {
    return LuongAttention::forward(q, read(k, v, {}), 0, {.keep = keep, .want = want});
  }
};

}  // namespace attn::nn
