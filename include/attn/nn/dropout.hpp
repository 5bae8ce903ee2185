/// Dropout, which is active in training alone.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/module.hpp"      // IWYU pragma: export
#include "attn/tensor/tensor.hpp"  // IWYU pragma: export

namespace attn::nn {

class Dropout : public Module {
 public:
  explicit Dropout(double probability) : probability_(probability) {}

  Tensor operator()(const Tensor& x) const;
  double probability() const { return training() ? probability_ : 0.0; }

 private:
  double probability_;
};

}  // namespace attn::nn
