/// Linear: y = x W^T + b.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/module.hpp"      // IWYU pragma: export
#include "attn/tensor/tensor.hpp"  // IWYU pragma: export

namespace attn::nn {

/// Whether a layer adds a learnt vector.
enum class Bias { none, learnt };

struct LinearOptions {
  std::int64_t in;
  std::int64_t out;
  Bias bias = Bias::learnt;
};

class Linear : public Module {
 public:
  explicit Linear(const LinearOptions& options);

  /// x [..., in] -> [..., out].
  Tensor operator()(const Tensor& x) const;

  const Tensor& weight() const { return weight_; }  ///< [out, in]
  const Tensor& bias() const { return bias_; }      ///< [out], or no tensor

 private:
  Tensor weight_;
  Tensor bias_;
};

/// W x alone.
inline Linear without_bias(std::int64_t in, std::int64_t out) {
  return Linear({.in = in, .out = out, .bias = Bias::none});
}

}  // namespace attn::nn
