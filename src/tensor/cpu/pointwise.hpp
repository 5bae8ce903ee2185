/// Pointwise work on the CPU. The tensors hold f32 or f64, all the same.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/pointwise_table.hpp"

namespace attn::cpu {

/// x, y, grad and dx are contiguous.
void unary_forward(UnaryOp op, double a, double b, const Tensor& x, const Tensor& y);
void unary_backward(UnaryOp op, double a, double b, const Tensor& grad, const Tensor& x,
                    const Tensor& y, const Tensor& dx);

/// out = f(a, b); a and b broadcast to out, which is contiguous.
void binary(BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out);

}  // namespace attn::cpu
