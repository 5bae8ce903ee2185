/// A linear layer as attention and feed-forward parts begin with it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>

#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/tape.hpp"

namespace attn::nn {

struct FirstProjection {
  std::int64_t in;
  std::int64_t out;        ///< of each part
  std::int64_t parts = 1;  ///< projections of the same features, in one product
  Bias bias = Bias::learnt;
  FirstWeights first = FirstWeights::fan_in;
};

/// Glorot's weights are drawn behind Linear's own, as ever: a seed gives the weights it gave.
inline Linear first_projection(const FirstProjection& options) {
  const auto& [in, out, parts, bias, first] = options;
  Linear layer({.in = in, .out = parts * out, .bias = bias});
  if (first == FirstWeights::fan_in || starts_at_zero()) return layer;
  const NoGrad off_the_tape;
  if (layer.bias().defined()) Tensor(layer.bias()).fill(0.0);
  if (first == FirstWeights::fan_in_bias_0) return layer;
  const std::int64_t rows = first == FirstWeights::glorot_each ? out : parts * out;
  const double bound = std::sqrt(6.0 / static_cast<double>(in + rows));
  Tensor(layer.weight()).copy_from(uniform_within({parts * out, in}, bound));
  return layer;
}

}  // namespace attn::nn
