/// What a convolution's kernel sees at each place, as the columns of a matrix; and back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/gemm/conv.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::gpu {

/// x [batch, in, height, width] -> columns [in * kernel, batch * places], zeros where there are
/// pads. Packed f32 or f64.
void unfold(const gemm::ConvShape& shape, const Tensor& x, const Tensor& columns);
/// Its gradient: every number of x is the sum of the columns' entries that saw it.
void fold(const gemm::ConvShape& shape, const Tensor& columns, const Tensor& x);

}  // namespace attn::gpu
