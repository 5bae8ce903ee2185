/// Convolutions of floats by oneDNN, one piece of the batch on each thread. Every extent is
/// positive: oneDNN refuses empty tensors.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/gemm/conv.hpp"

namespace attn::gemm::onednn {

void conv_forward(const ConvShape& shape, const float* x, const float* weight,
                  const float* bias, float* y);
void conv_backward_data(const ConvShape& shape, const float* grad, const float* weight,
                        float* dx);
void conv_backward_weights(const ConvShape& shape, const float* x, const float* grad,
                           float* d_weight, float* d_bias);

}  // namespace attn::gemm::onednn
