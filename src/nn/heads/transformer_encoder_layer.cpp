#include "attn/nn/heads/transformer_encoder_layer.hpp"

#include "attn/nn/dropout.hpp"
#include "attn/nn/heads/torch_multihead_attention.hpp"
#include "attn/nn/heads/transformer_layer_options.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerLayerOptions& options)
    : options_(options),
      self_attn_(add("self_attn", TorchMultiheadAttention({.embed_dim = options.dim,
                                                           .heads = options.heads,
                                                           .dropout = options.dropout}))),
      linear1_(add("linear1", Linear({.in = options.dim, .out = options.feed_forward_dim}))),
      linear2_(add("linear2", Linear({.in = options.feed_forward_dim, .out = options.dim}))),
      norm1_(add("norm1", LayerNorm({.features = options.dim, .eps = options.layer_norm_eps}))),
      norm2_(add("norm2", LayerNorm({.features = options.dim, .eps = options.layer_norm_eps}))),
      dropout_(add("dropout", Dropout(options.dropout))) {}

Tensor TransformerEncoderLayer::attend_to(const Tensor& x, const TorchMasks& masks) const {
  return dropout_(self_attn_.forward(x, x, x, masks).output);
}

Tensor TransformerEncoderLayer::feed_forward(const Tensor& x) const {
  return dropout_(linear2_(dropout_(activate(linear1_(x), options_.activation))));
}

Tensor TransformerEncoderLayer::operator()(const Tensor& src, const TorchMasks& masks) const {
  if (options_.norm == NormOrder::before) {
    const Tensor x = src + attend_to(norm1_(src), masks);
    return x + feed_forward(norm2_(x));
  }
  const Tensor x = norm1_(src + attend_to(src, masks));
  return norm2_(x + feed_forward(x));
}

}  // namespace attn::nn
