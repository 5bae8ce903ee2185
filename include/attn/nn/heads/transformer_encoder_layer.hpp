/// A layer of the Transformer's encoder, equal to torch.nn.TransformerEncoderLayer (batch
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

/// Norm after: x = norm1(x + SA(x)), x = norm2(x + FF(x)). Norm before: x = x + SA(norm1(x)),
/// x = x + FF(norm2(x)). SA is self attention, FF = linear2(f(linear1(x))).
class TransformerEncoderLayer : public Module {
 public:
  explicit TransformerEncoderLayer(const TransformerLayerOptions& options);

  /// src [batch, positions, dim] -> the same shape. Padded positions are computed as any other.
  Tensor operator()(const Tensor& src, const TorchMasks& masks = {}) const;

 private:
  Tensor attend_to(const Tensor& x, const TorchMasks& masks) const;
  Tensor feed_forward(const Tensor& x) const;

  TransformerLayerOptions options_;
  TorchMultiheadAttention self_attn_;
  Linear linear1_;  ///< [feed_forward_dim, dim]
  Linear linear2_;  ///< [dim, feed_forward_dim]
  LayerNorm norm1_;
  LayerNorm norm2_;
  Dropout dropout_;
};

}  // namespace attn::nn
