#include "attn/nn/transformer/transformer_layer.hpp"

#include <cstdint>
#include <optional>

#include "attn/core/error.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/norm.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/attention/first_projection.hpp"

namespace attn::nn {
namespace {

TransformerLayerOptions completed(TransformerLayerOptions options) {
  if (options.attention_dim == 0) options.attention_dim = options.dim;
  if (options.out_dim == 0) options.out_dim = options.dim;
  return options;
}

Norm first_norm(const TransformerLayerOptions& options, std::int64_t features) {
  return Norm(options.norm_kind, {.features = features, .eps = options.layer_norm_eps});
}

MultiHeadAttention self_attention(const TransformerLayerOptions& options,
                                  const LayerConvention& convention) {
  return MultiHeadAttention({.query_dim = options.dim,
                             .key_dim = options.dim,
                             .value_dim = options.dim,
                             .hidden_dim = options.attention_dim,
                             .heads = options.heads,
                             .bias = options.bias,
                             .dropout = options.dropout,
                             .out_dim = options.out_dim,
                             .scale = options.scale,
                             .max_distance = options.max_distance,
                             .convention = convention.self_heads,
                             .key_value_heads = options.key_value_heads});
}

MultiHeadAttention memory_attention(const TransformerLayerOptions& options,
                                    const LayerConvention& convention) {
  return MultiHeadAttention({.query_dim = options.out_dim,
                             .key_dim = options.out_dim,
                             .value_dim = options.out_dim,
                             .hidden_dim = options.out_dim,
                             .heads = options.heads,
                             .bias = options.bias,
                             .dropout = options.dropout,
                             .convention = convention.memory_heads});
}

}  // namespace

TransformerLayer::TransformerLayer(const TransformerLayerOptions& options,
                                   const LayerConvention& convention)
    : options_(completed(options)),
      self_norm_(
          add(convention.self_norm,
              first_norm(options_, options_.norm == NormOrder::before ? options_.dim
                                                                      : options_.out_dim))),
      self_(add(convention.self, self_attention(options_, convention))),
      residual_(options_.out_dim == options_.dim
                    ? std::nullopt
                    : std::optional(add(
                          "residual", Linear({.in = options_.dim, .out = options_.out_dim})))),
      memory_norm_(convention.memory
                       ? std::optional(add(convention.memory_norm,
                                           first_norm(options_, options_.out_dim)))
                       : std::nullopt),
      memory_(convention.memory ? std::optional(add(convention.memory,
                                                    memory_attention(options_, convention)))
                                : std::nullopt),
      feed_norm_(add(convention.feed_norm, first_norm(options_, options_.out_dim))),
      feed_gate_(options_.feed != FeedForward::plain
                     ? std::optional(add(convention.feed_gate,
                                         first_projection({.in = options_.out_dim,
                                                           .out = options_.feed_forward_dim,
                                                           .bias = options_.bias,
                                                           .first = convention.feed})))
                     : std::nullopt),
      feed_in_(add(convention.feed_in, first_projection({.in = options_.out_dim,
                                                         .out = options_.feed_forward_dim,
                                                         .bias = options_.bias,
                                                         .first = convention.feed}))),
      feed_out_(add(convention.feed_out, first_projection({.in = options_.feed_forward_dim,
                                                           .out = options_.out_dim,
                                                           .bias = options_.bias,
                                                           .first = convention.feed}))),
      dropout_(add("dropout", Dropout(options_.dropout))) {}

const Norm& TransformerLayer::memory_norm() const {
  if (!memory_norm_) fail("attn::nn::TransformerLayer: this layer has no memory");
  return *memory_norm_;
}

const MultiHeadAttention& TransformerLayer::memory() const {
  if (!memory_) fail("attn::nn::TransformerLayer: this layer has no memory");
  return *memory_;
}

Tensor TransformerLayer::hidden(const Tensor& in, const Tensor& gate) const {
  switch (options_.feed) {
    case FeedForward::plain:
      break;
    case FeedForward::geglu:
      return gelu(gate) * in;
    case FeedForward::swiglu:
      return gate * sigmoid(gate) * in;
  }
  return activate(in, options_.activation);
}

TransformerLayer::Result TransformerLayer::forward(const Tensor& x,
                                                   const AttentionContext& self,
                                                   const Tensor& memory,
                                                   const AttentionContext& over_memory) const {
  const auto normal = [this](const Tensor& in, const Norm& norm) {
    return options_.norm == NormOrder::before ? norm(in) : in;
  };
  const auto sum = [this](const Tensor& in, const Tensor& part, const Norm& norm) {
    const Tensor both = in + dropout_(part);
    return options_.norm == NormOrder::before ? both : norm(both);
  };
  const Tensor in = normal(x, self_norm_);
  const Attended own = self_.forward_with(in, in, in, self);
  Tensor y = sum(residual_ ? (*residual_)(x) : x, own.output, self_norm_);
  Tensor weights;
  if (memory_) {
    const Attended over =
        memory_->forward_with(normal(y, memory_norm()), memory, memory, over_memory);
    weights = over.weights;
    y = sum(y, over.output, memory_norm());
  }
  const Tensor features = normal(y, feed_norm_);
  const Tensor gate = feed_gate_ ? (*feed_gate_)(features) : Tensor();
  const Tensor inside = dropout_(hidden(feed_in_(features), gate));
  return {sum(y, feed_out_(inside), feed_norm_), weights, own.weights};
}

}  // namespace attn::nn
