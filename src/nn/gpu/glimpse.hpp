/// Glimpses on the GPU.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/glimpse/retina.hpp"

namespace attn::gpu {

/// patches = what the retina sees of the packed image; f32 or f64, centres i64 [batch, 2].
void glimpse(const nn::Retina& retina, const Tensor& image, const Tensor& centres,
             const Tensor& patches);
void glimpse_backward(const nn::Retina& retina, const Tensor& grad, const Tensor& centres,
                      const Tensor& down);

}  // namespace attn::gpu
