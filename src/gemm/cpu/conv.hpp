/// Convolutions of floats on the pool: products with what the kernel sees, image by image, with
/// the kernels of one instruction set. Every extent is positive and the target available.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/gemm/conv.hpp"
#include "attn/kernels/target.hpp"

namespace attn::gemm {

void conv_forward_on(Target target, const ConvShape& shape, const float* x, const float* weight,
                     const float* bias, float* y);
void conv_backward_data_on(Target target, const ConvShape& shape, const float* grad,
                           const float* weight, float* dx);
void conv_backward_weights_on(Target target, const ConvShape& shape, const float* x,
                              const float* grad, float* d_weight, float* d_bias);

}  // namespace attn::gemm
