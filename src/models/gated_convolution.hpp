/// A convolution along the sequence with a gated linear unit behind it. Dauphin et al., 2017,
/// arXiv:1612.08083.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

/// [a; b] = W [x_t; ...; x_(t + kernel - 1)], out_t = a sigmoid(b). Neighbours are joined and
/// meet one product, since sequences are short and channels many, and lie side by side.
class GatedConvolution : public nn::Module {
 public:
  GatedConvolution(std::int64_t dim, std::int64_t kernel);

  /// x [batch, length + kernel - 1, dim] -> [batch, length, dim].
  Tensor operator()(const Tensor& x) const;

 private:
  std::int64_t kernel_;
  nn::Linear product_;  ///< "product" [2 dim, kernel dim]
};

}  // namespace attn::models
