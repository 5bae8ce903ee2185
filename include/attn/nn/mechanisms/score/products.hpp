/// Attention by products of query and key, of which nothing is learnt: dot, scaled dot, cosine.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "attn/tensor/attend.hpp"

namespace attn::nn {

/// Dot attention: score(q, k) = q . k, without a scale. Luong, Pham and Manning, 2015,
/// arXiv:1508.04025.
///
/// w = softmax(q . k), context = w v: q [batch, queries, dim], k [batch, keys, dim],
/// v [batch, keys, value_dim]. Nothing is learnt.
inline Attended dot_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                              const Mask& keep = {}, const Want& want = Want::output) {
  return attend(q, k, v, spec::dot(), keep, spec::softmax(), want);
}

/// Scaled dot attention: score(q, k) = scale * q . k. Vaswani et al., 2017, arXiv:1706.03762.
///
/// w = softmax(scale * q . k), context = w v: q [batch, queries, dim], k [batch, keys, dim],
/// v [batch, keys, value_dim]. The scale is 1 / sqrt(dim) unless given: scores of unit inputs
/// then have variance 1. Nothing is learnt.
inline Attended scaled_dot_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                     const Mask& keep = {}, const Want& want = Want::output,
                                     std::optional<double> scale = {}) {
  const spec::Score score = scale ? spec::dot(*scale) : spec::scaled_dot();
  return attend(q, k, v, score, keep, spec::softmax(), want);
}

/// Cosine attention: score(q, k) = scale * q . k / (|q| |k|), the content addressing of Graves,
/// Wayne and Danihelka, 2014, arXiv:1410.5401.
///
/// w = softmax(scale * cos(q, k)), context = w v: q [batch, queries, dim], k [batch, keys,
/// dim], v [batch, keys, value_dim]. A vector of norm <= 1e-8 has no direction: its scores are
/// 0 and it gets no gradient from them. Nothing is learnt.
inline Attended cosine_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const Mask& keep = {}, const Want& want = Want::output,
                                 double scale = 1.0) {
  return attend(q, k, v, spec::cosine(scale), keep, spec::softmax(), want);
}

}  // namespace attn::nn
