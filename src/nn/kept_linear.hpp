/// A linear layer in front of a mask.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/linear.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// linear(x, weight, bias) whose weight gradient does not read rows of x to which no gradient
/// came: what a mask hides behind the layer may be NaN, and 0 * NaN is not 0.
Tensor kept_linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

inline Tensor kept_linear(const Tensor& x, const Linear& layer) {
  return kept_linear(x, layer.weight(), layer.bias());
}

}  // namespace attn::nn
