/// The Transformer's layers with torch's names and masks: equal to
/// torch.nn.TransformerEncoderLayer and torch.nn.TransformerDecoderLayer (batch first). Vaswani
/// et al., 2017, arXiv:1706.03762.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/attention/torch_multihead_attention.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// A layer of the Transformer's encoder, equal to torch.nn.TransformerEncoderLayer (batch
/// first). Vaswani et al., 2017, arXiv:1706.03762.
///
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

/// A layer of the Transformer's decoder, equal to torch.nn.TransformerDecoderLayer (batch
/// first). Vaswani et al., 2017, arXiv:1706.03762.
///
/// Self attention, attention over the memory, feed-forward; each with a residual sum and its
/// own norm, in the order of the options.
class TransformerDecoderLayer : public TransformerLayer {
 public:
  explicit TransformerDecoderLayer(const TransformerLayerOptions& options)
      : TransformerLayer(options, kTorchDecoder) {}

  struct Masks {
    TorchMasks tgt;     ///< of the self attention
    TorchMasks memory;  ///< of the attention over the memory
  };
  /// tgt [batch, positions, dim], memory [batch, keys, dim] -> the shape of tgt.
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Masks& masks) const {
    return TransformerLayer::forward(tgt, attention_context(masks.tgt, self().heads()), memory,
                                     attention_context(masks.memory, self().heads()))
        .output;
  }
  Tensor forward(const Tensor& tgt, const Tensor& memory) const {
    return forward(tgt, memory, Masks{});
  }
};

}  // namespace attn::nn
