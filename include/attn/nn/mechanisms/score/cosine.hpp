/// Cosine attention: score(q, k) = scale * q . k / (|q| |k|), the content addressing of Graves,
/// Wayne and Danihelka, 2014, arXiv:1410.5401.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// w = softmax(scale * cos(q, k)), context = w v: q [batch, queries, dim], k [batch, keys,
/// dim], v [batch, keys, value_dim]. A vector of norm <= 1e-8 has no direction: its scores are
/// 0 and it gets no gradient from them. Nothing is learnt.
inline Attended cosine_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const Keep& keep = {}, const Want& want = Want::output,
                                 double scale = 1.0) {
  return attend(q, k, v, spec::cosine(scale), keep, spec::softmax(), want);
}

}  // namespace attn::nn
