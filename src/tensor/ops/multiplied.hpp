/// Products of tensors, off the tape.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"

namespace attn::op {

/// x y, [..., m, k] times [..., k, n], on either device: f32 and f64, on the GPU 16-bit types
/// too. `bias` [n] or none is added to each row.
Tensor multiplied(const Tensor& x, const Tensor& y, const Tensor& bias = {});

}  // namespace attn::op
