/// T5's relative bias: a learnt number for each head and bucket of distances. Raffel et al.,
/// 2020, arXiv:1910.10683.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/embedding.hpp"
#include "attn/score/t5_buckets.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct T5BiasOptions {
  std::int64_t heads;
  std::int64_t buckets = 32;
  std::int64_t max_distance = 128;
  score::T5Direction direction = score::T5Direction::both;
  spec::Offset query_offset{};  ///< query i sits at i + offset; left out, keys - queries
  double scale = 1.0;           ///< T5 does not scale
};

/// w = softmax(scale q k^T + bias[bucket(j - i), head]).
class T5Bias : public Module {
 public:
  explicit T5Bias(const T5BiasOptions& options);

  /// q [batch, heads, queries, d], k [batch, heads, keys, d], v [batch, heads, keys,
  /// value_dim].
  Attended forward(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& keep = {},
                   const Want& want = Want::output) const;

  /// i64 [queries, keys]: the bucket of each pair.
  Tensor buckets(std::int64_t queries, std::int64_t keys) const;
  /// [heads, queries, keys]: what is added to the scores.
  Tensor bias(std::int64_t queries, std::int64_t keys) const;

 private:
  T5BiasOptions options_;
  Embedding table_;  ///< "relative_attention_bias" [buckets, heads]
};

}  // namespace attn::nn
