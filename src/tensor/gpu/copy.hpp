/// Moving numbers on the GPU, between tensors of any strides and element types.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"

namespace attn::gpu {

/// to = from, converted; the shapes are equal.
void copy(const Tensor& from, const Tensor& to);
void fill(const Tensor& to, double value);
/// 0, 1, ..., in a packed i64 tensor.
void count_up(const Tensor& to);

}  // namespace attn::gpu
