/// Dot attention: score(q, k) = q . k, without a scale. Luong, Pham and Manning, 2015,
/// arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// w = softmax(q . k), context = w v: q [batch, queries, dim], k [batch, keys, dim],
/// v [batch, keys, value_dim]. Nothing is learnt.
inline Attended dot_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                              const Keep& keep = {}, const Want& want = Want::output) {
  return attend(q, k, v, spec::dot(), keep, spec::softmax(), want);
}

}  // namespace attn::nn
