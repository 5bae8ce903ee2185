#include "attn/nn/heads/transformer_decoder_layer.hpp"

#include "attn/nn/dropout.hpp"
#include "attn/nn/heads/torch_multihead_attention.hpp"
#include "attn/nn/heads/transformer_layer_options.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {
namespace {

TorchMultiheadAttention attention(const TransformerLayerOptions& options) {
  return TorchMultiheadAttention(
      {.embed_dim = options.dim, .heads = options.heads, .dropout = options.dropout});
}

LayerNorm norm(const TransformerLayerOptions& options) {
  return LayerNorm({.features = options.dim, .eps = options.layer_norm_eps});
}

}  // namespace

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerLayerOptions& options)
    : options_(options),
      self_attn_(add("self_attn", attention(options))),
      multihead_attn_(add("multihead_attn", attention(options))),
      linear1_(add("linear1", Linear({.in = options.dim, .out = options.feed_forward_dim}))),
      linear2_(add("linear2", Linear({.in = options.feed_forward_dim, .out = options.dim}))),
      norm1_(add("norm1", norm(options))),
      norm2_(add("norm2", norm(options))),
      norm3_(add("norm3", norm(options))),
      dropout_(add("dropout", Dropout(options.dropout))) {}

Tensor TransformerDecoderLayer::self_attend(const Tensor& x, const TorchMasks& masks) const {
  return dropout_(self_attn_.forward(x, x, x, masks).output);
}

Tensor TransformerDecoderLayer::look_at(const Tensor& memory, const Tensor& x,
                                        const TorchMasks& masks) const {
  return dropout_(multihead_attn_.forward(x, memory, memory, masks).output);
}

Tensor TransformerDecoderLayer::feed_forward(const Tensor& x) const {
  return dropout_(linear2_(dropout_(activate(linear1_(x), options_.activation))));
}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory,
                                        const Masks& masks) const {
  Tensor x = tgt;
  if (options_.norm == NormOrder::before) {
    x = x + self_attend(norm1_(x), masks.tgt);
    x = x + look_at(memory, norm2_(x), masks.memory);
    return x + feed_forward(norm3_(x));
  }
  x = norm1_(x + self_attend(x, masks.tgt));
  x = norm2_(x + look_at(memory, x, masks.memory));
  return norm3_(x + feed_forward(x));
}

}  // namespace attn::nn
