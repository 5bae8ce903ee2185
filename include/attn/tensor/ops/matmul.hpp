/// Matrix products.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"

namespace attn {

/// [..., m, k] times [..., k, n]; leading axes broadcast. Both have two axes or more.
Tensor matmul(const Tensor& a, const Tensor& b);

/// y = x W^T + b on the last axis: x [..., in], weight [out, in], bias [out] or none. A row of
/// x that no gradient comes back to, such as one a mask hides, is not read by the weight's
/// gradient.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
/// relu(linear(x, weight, bias)), and linear(x, weight, bias) + added, of the same shape: one
/// kernel each on the GPU where nothing is recorded.
Tensor linear_relu(const Tensor& x, const Tensor& weight, const Tensor& bias);
Tensor linear_plus(const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const Tensor& added);

}  // namespace attn
