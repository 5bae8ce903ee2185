/// A layer of the Transformer's decoder, equal to torch.nn.TransformerDecoderLayer (batch
/// first). Vaswani et al., 2017, arXiv:1706.03762.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/attention/torch_multihead_attention.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

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
