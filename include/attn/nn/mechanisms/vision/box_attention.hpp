/// Box attention: a text looks at detected boxes, of which each image has its own number.
/// Anderson et al., 2018, arXiv:1707.07998.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/mechanisms/vision/text_score.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct BoxLook {
  Tensor weights;  ///< [boxes]; not defined unless wanted
  Tensor context;  ///< [batch, channels]
};

/// The scores of SpatialAttention over the boxes of all images one after another: nothing is
/// padded, and blocks of boxes of other images are not scored.
class BoxAttention : public TextScored {
 public:
  explicit BoxAttention(const TextScoreOptions& options) : TextScored(options) {}

  /// boxes [boxes, channels], offsets i64 [batch + 1] (image b has boxes offsets[b] up to
  /// offsets[b + 1]), text [batch, text_dim]. An image without boxes gets zeros.
  BoxLook forward(const Tensor& boxes, const Tensor& offsets, const Tensor& text,
                  const Want& want = Want::output) const;
};

}  // namespace attn::nn
