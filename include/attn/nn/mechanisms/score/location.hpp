/// Location attention: the query alone tells where to look. Luong, Pham and Manning, 2015,
/// arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/attention/luong_attention.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

struct LocationAttentionOptions {
  std::int64_t query_dim;
  std::int64_t max_keys;
};

/// w = softmax((W_a q)[0 .. keys)), context = w v. Rows of W_a past the keys are not used.
class LocationAttention : public LuongAttention {
 public:
  explicit LocationAttention(const LocationAttentionOptions& options)
      : LuongAttention({.query_dim = options.query_dim,
                        .key_dim = 0,
                        .score = LuongScore::location,
                        .max_keys = options.max_keys}) {}

  /// q [batch, queries, query_dim], v [batch, keys, value_dim], keys <= max_keys.
  Attended forward(const Tensor& q, const Tensor& v, const Keep& keep = {},
                   const Want& want = Want::output) const {
    return LuongAttention::forward(q, read({}, v, {}), 0, {.keep = keep, .want = want});
  }
};

}  // namespace attn::nn
