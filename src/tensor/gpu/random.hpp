/// Random numbers on the GPU: the CPU's own, place by place.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/tensor.hpp"
#include "tensor/dropout_draw.hpp"
#include "tensor/random_draw.hpp"

namespace attn::gpu {

/// Packed tensors of one type: y = keep * x, or 0 where the draw drops it.
void dropout(const op::DropoutDraw& draw, const Tensor& x, const Tensor& y);

/// Packed f64.
void draw(const op::UniformDraw& draw, std::uint64_t key, const Tensor& out);
void draw(const op::NormalDraw& draw, std::uint64_t key, const Tensor& out);

}  // namespace attn::gpu
