/// Spatial attention: a text looks at the cells of a feature map. Yang et al., 2016,
/// arXiv:1511.02274.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/mechanisms/vision/text_score.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct SpatialLook {
  Tensor weights;  ///< [batch, height, width]; not defined unless wanted
  Tensor context;  ///< [batch, channels]
};

/// w = softmax over all cells of w . tanh(W_v cell + W_t text + b), or of text^T W_a cell;
/// context = sum of w * cell.
class SpatialAttention : public TextScored {
 public:
  explicit SpatialAttention(const TextScoreOptions& options) : TextScored(options) {}

  /// image [batch, channels, height, width], text [batch, text_dim], mask boolean [batch,
  /// height, width] (true keeps) or none. A wholly masked image gives zeros.
  SpatialLook forward(const Tensor& image, const Tensor& text, const Tensor& mask = {},
                      const Want& want = Want::output) const;
};

}  // namespace attn::nn
