/// Luong's learnt scores, each as an attention. Luong, Pham and Manning, 2015,
/// arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/attention/luong_attention.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct GeneralAttentionOptions {
  std::int64_t query_dim;
  std::int64_t key_dim;
};

/// General: w = softmax(q^T W_a k), context = w v, a learnt similarity of different spaces. The
/// keys are projected once: W_a k.
class GeneralAttention : public LuongAttention {
 public:
  explicit GeneralAttention(const GeneralAttentionOptions& options)
      : LuongAttention({.query_dim = options.query_dim,
                        .key_dim = options.key_dim,
                        .score = LuongScore::general}) {}
};

struct ConcatAttentionOptions {
  std::int64_t query_dim;
  std::int64_t key_dim;
  std::int64_t hidden_dim;
};

/// Concat: w = softmax(v_a . tanh(W_a [q; k])), context = w v, the query first. W_a [q; k] is
/// W_a's first columns times q plus its last times k, so no pair is ever joined.
class ConcatAttention : public LuongAttention {
 public:
  explicit ConcatAttention(const ConcatAttentionOptions& options)
      : LuongAttention({.query_dim = options.query_dim,
                        .key_dim = options.key_dim,
                        .score = LuongScore::concat,
                        .hidden_dim = options.hidden_dim}) {}
};

struct LocationAttentionOptions {
  std::int64_t query_dim;
  std::int64_t max_keys;
};

/// Location, the query alone tells where: w = softmax((W_a q)[0 .. keys)), context = w v. Rows
/// of W_a past the keys are not used.
class LocationAttention : public LuongAttention {
 public:
  explicit LocationAttention(const LocationAttentionOptions& options)
      : LuongAttention({.query_dim = options.query_dim,
                        .key_dim = 0,
                        .score = LuongScore::location,
                        .max_keys = options.max_keys}) {}

  /// q [batch, queries, query_dim], v [batch, keys, value_dim], keys <= max_keys.
  Attended forward(const Tensor& q, const Tensor& v, const Mask& keep = {},
                   const Want& want = Want::output) const {
    return LuongAttention::forward(q, read({}, v, {}), 0, {.keep = keep, .want = want});
  }
};

}  // namespace attn::nn
