/// Rotary positions on the GPU.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/kernels/rotary.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::gpu {

/// out = x turned: [batch, heads, positions, channels] with any strides, f32 or f64 as cos and
/// sin, which are packed [1 or batch, positions, pairs].
void rotate(const Tensor& x, const Tensor& cos, const Tensor& sin, RotaryPairs pairs,
            const Tensor& out);

}  // namespace attn::gpu
