/// Moving numbers between tensors of any strides and element types, on the CPU.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"

namespace attn::cpu {

/// to = from, converted; the shapes are equal.
void copy(const Tensor& from, const Tensor& to);
void fill(const Tensor& to, double value);

}  // namespace attn::cpu
