/// A layer of the Transformer's decoder, equal to torch.nn.TransformerDecoderLayer (batch
/// first). Vaswani et al., 2017, arXiv:1706.03762.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/dropout.hpp"
#include "attn/nn/heads/torch_multihead_attention.hpp"
#include "attn/nn/heads/transformer_layer_options.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// Self attention, attention over the memory, feed-forward; each with a residual sum and its
/// own norm, in the order of the options.
class TransformerDecoderLayer : public Module {
 public:
  explicit TransformerDecoderLayer(const TransformerLayerOptions& options);

  struct Masks {
    TorchMasks tgt;     ///< of the self attention
    TorchMasks memory;  ///< of the attention over the memory
  };
  /// tgt [batch, positions, dim], memory [batch, keys, dim] -> the shape of tgt.
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Masks& masks) const;
  Tensor forward(const Tensor& tgt, const Tensor& memory) const {
    return forward(tgt, memory, Masks{});
  }

 private:
  Tensor self_attend(const Tensor& x, const TorchMasks& masks) const;
  Tensor look_at(const Tensor& memory, const Tensor& x, const TorchMasks& masks) const;
  Tensor feed_forward(const Tensor& x) const;

  TransformerLayerOptions options_;
  TorchMultiheadAttention self_attn_;
  TorchMultiheadAttention multihead_attn_;
  Linear linear1_;  ///< [feed_forward_dim, dim]
  Linear linear2_;  ///< [dim, feed_forward_dim]
  LayerNorm norm1_;
  LayerNorm norm2_;
  LayerNorm norm3_;
  Dropout dropout_;
};

}  // namespace attn::nn
