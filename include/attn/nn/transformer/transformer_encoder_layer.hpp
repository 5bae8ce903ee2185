/// A layer of the Transformer's encoder, equal to torch.nn.TransformerEncoderLayer (batch
/// first). Vaswani et al., 2017, arXiv:1706.03762.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/attention/torch_multihead_attention.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// Norm after: x = norm1(x + SA(x)), x = norm2(x + FF(x)). Norm before: x = x + SA(norm1(x)),
/// x = x + FF(norm2(x)). SA is self attention, FF = linear2(f(linear1(x))).
class TransformerEncoderLayer : public TransformerLayer {
 public:
  explicit TransformerEncoderLayer(const TransformerLayerOptions& options)
      : TransformerLayer(options, kTorchEncoder) {}

  /// src [batch, positions, dim] -> the same shape. Padded positions are computed as any other.
  Tensor operator()(const Tensor& src, const TorchMasks& masks = {}) const {
    return forward(src, attention_context(masks, self().heads())).output;
  }
};

}  // namespace attn::nn
