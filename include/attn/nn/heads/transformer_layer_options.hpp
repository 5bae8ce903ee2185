/// What the layers of a Transformer share.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {

/// Where a layer normalises: behind each residual sum (Vaswani et al., 2017), or in front of
/// each part (Xiong et al., 2020, arXiv:2002.04745).
enum class NormOrder { after, before };

struct TransformerLayerOptions {
  std::int64_t dim;
  std::int64_t heads;
  std::int64_t feed_forward_dim;
  Activation activation = Activation::relu;
  NormOrder norm = NormOrder::after;
  double layer_norm_eps = 1e-5;
  /// Of the attention weights, of the hidden features and of what each part adds, in training.
  double dropout = 0.0;
};

}  // namespace attn::nn
