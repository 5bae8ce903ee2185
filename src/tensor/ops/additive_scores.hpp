/// The additive similarity as a matrix, on the GPU.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"

namespace attn::op {

/// q [batch, heads, queries, channels], k [batch, heads, keys, channels], w [1, heads, 1,
/// channels], all f32 on the GPU -> [batch, heads, queries, keys].
Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& w);

}  // namespace attn::op
