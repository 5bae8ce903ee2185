/// Layer normalisation with a learnt scale and shift.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/module.hpp"      // IWYU pragma: export
#include "attn/tensor/tensor.hpp"  // IWYU pragma: export

namespace attn::nn {

struct LayerNormOptions {
  std::int64_t features;
  double eps = 1e-5;
};

class LayerNorm : public Module {
 public:
  explicit LayerNorm(const LayerNormOptions& options);

  /// Over the last axis.
  Tensor operator()(const Tensor& x) const;

 private:
  double eps_;
  Tensor weight_;  ///< [features], begins at 1
  Tensor bias_;    ///< [features], begins at 0
};

}  // namespace attn::nn
