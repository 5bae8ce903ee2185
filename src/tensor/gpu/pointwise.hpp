/// Pointwise work on the GPU, in any type of real numbers, any strides.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"
#include "tensor/pointwise_ops.hpp"

namespace attn::gpu {

/// y = f(x).
void unary_forward(pointwise::UnaryOp op, double a, double b, const Tensor& x, const Tensor& y);
/// dx = grad * slope(x); f(x) is made again, which costs less than reading it.
void unary_backward(pointwise::UnaryOp op, double a, double b, const Tensor& grad,
                    const Tensor& x, const Tensor& dx);
/// out = f(a, b); a and b broadcast to out.
void binary(pointwise::BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out);

/// out = keep ? a : b; all three broadcast to out.
void choose(const Tensor& keep, const Tensor& a, const Tensor& b, const Tensor& out);

/// Booleans: a && b, which broadcast to out; !a.
void logical_and(const Tensor& a, const Tensor& b, const Tensor& out);
void logical_not(const Tensor& a, const Tensor& out);
/// out[b, i] = i < lengths[b], for packed tensors. Lengths outside of 0..extent are reported.
void length_mask(const Tensor& lengths, const Tensor& out);

}  // namespace attn::gpu
