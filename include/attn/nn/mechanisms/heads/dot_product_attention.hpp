/// Scaled dot product attention as a layer, with dropout of the weights in training.
/// Vaswani et al., 2017, arXiv:1706.03762.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct DotProductAttentionOptions {
  double dropout = 0.0;  ///< of the weights, while training
};

/// out = softmax(q k^T / sqrt(dim)) v; nothing is learnt.
class DotProductAttention : public Module {
 public:
  explicit DotProductAttention(const DotProductAttentionOptions& options = {});

  /// q [batch, queries, dim], k [batch, keys, dim], v [batch, keys, value_dim]; or all with a
  /// head axis after the batch.
  Attended forward(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& keep = {},
                   const Want& want = Want::output) const;

 private:
  double dropout_;
};

}  // namespace attn::nn
