/// Moving numbers between tensors of any strides, element types and devices.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"

namespace attn::op {

/// to = from, converted; the shapes are equal. To the CPU it waits for the GPU.
void copy(const Tensor& from, const Tensor& to);
void fill(const Tensor& to, double value);

}  // namespace attn::op
