/// Scaled dot attention: score(q, k) = scale * q . k. Vaswani et al., 2017, arXiv:1706.03762.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// w = softmax(scale * q . k), context = w v: q [batch, queries, dim], k [batch, keys, dim],
/// v [batch, keys, value_dim]. The scale is 1 / sqrt(dim) unless given: scores of unit inputs
/// then have variance 1. Nothing is learnt.
inline Attended scaled_dot_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                     const Keep& keep = {}, const Want& want = Want::output,
                                     std::optional<double> scale = {}) {
  const spec::Score score = scale ? spec::dot(*scale) : spec::scaled_dot();
  return attend(q, k, v, score, keep, spec::softmax(), want);
}

}  // namespace attn::nn
