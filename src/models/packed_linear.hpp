/// A linear layer for decoding: its weight is laid out once and streamed at every step, since a
/// product of few rows would spend its time laying the weight out again.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/tensor.hpp"

namespace attn::models {

enum class Then { nothing, relu };

/// Off the tape. In f32 the weight is a copy, so later changes of the layer are not seen; other
/// types are multiplied as they are.
class PackedLinear {
 public:
  /// weight [out, in], bias [out].
  PackedLinear(const Tensor& weight, const Tensor& bias);
  /// Of an nn::Linear with a bias.
  template <class Linear>
  explicit PackedLinear(const Linear& layer) : PackedLinear(layer.weight(), layer.bias()) {}

  /// then(x W^T + b), x [..., in] -> [..., out].
  Tensor operator()(const Tensor& x, Then then = Then::nothing) const;
  /// x W^T + b + added, which has the shape of the result.
  Tensor plus(const Tensor& x, const Tensor& added) const;

 private:
  Tensor multiply(const Tensor& x, const Tensor& added) const;
  void multiply_columns(const Tensor& x, const Tensor& added, const Tensor& out,
                        std::int64_t first_panel, std::int64_t last_panel) const;

  Tensor weight_;
  Tensor bias_;
  Tensor panels_;  ///< not defined in other types than f32
};

}  // namespace attn::models
