#include "attn/nn/transformer/transformer_layer.hpp"

#include <cstdint>
#include <optional>

#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/attention/first_projection.hpp"

namespace attn::nn {
namespace {

LayerNorm first_norm(const TransformerLayerOptions& options) {
  return LayerNorm({.features = options.dim, .eps = options.layer_norm_eps});
}

MultiHeadAttention attention(const TransformerLayerOptions& options,
                             const MultiHeadConvention& convention,
                             std::int64_t max_distance = 0) {
  return MultiHeadAttention({.query_dim = options.dim,
                             .key_dim = options.dim,
                             .value_dim = options.dim,
                             .hidden_dim = options.dim,
                             .heads = options.heads,
                             .bias = Bias::learnt,
                             .dropout = options.dropout,
                             .max_distance = max_distance,
                             .convention = convention});
}

}  // namespace

TransformerLayer::TransformerLayer(const TransformerLayerOptions& options,
                                   const LayerConvention& convention)
    : options_(options),
      self_norm_(add(convention.self_norm, first_norm(options))),
      self_(add(convention.self,
                attention(options, convention.self_heads, options.max_distance))),
      memory_norm_(convention.memory
                       ? std::optional(add(convention.memory_norm, first_norm(options)))
                       : std::nullopt),
      memory_(convention.memory
                  ? std::optional(
                        add(convention.memory, attention(options, convention.memory_heads)))
                  : std::nullopt),
      feed_norm_(add(convention.feed_norm, first_norm(options))),
      feed_in_(add(convention.feed_in, first_projection({.in = options.dim,
                                                         .out = options.feed_forward_dim,
                                                         .first = convention.feed}))),
      feed_out_(add(convention.feed_out, first_projection({.in = options.feed_forward_dim,
                                                           .out = options.dim,
                                                           .first = convention.feed}))),
      dropout_(add("dropout", Dropout(options.dropout))) {}

TransformerLayer::Result TransformerLayer::forward(const Tensor& x,
                                                   const AttentionContext& self,
                                                   const Tensor& memory,
                                                   const AttentionContext& over_memory) const {
  const auto with_residual = [this](const Tensor& in, const LayerNorm& norm, const auto& part) {
    return options_.norm == NormOrder::before ? in + dropout_(part(norm(in)))
                                              : norm(in + dropout_(part(in)));
  };
  Tensor weights;
  Tensor y = with_residual(x, self_norm_, [&](const Tensor& in) {
    return self_.forward_with(in, in, in, self).output;
  });
  if (memory_)
    y = with_residual(y, *memory_norm_, [&](const Tensor& in) {
      const Attended result = memory_->forward_with(in, memory, memory, over_memory);
      weights = result.weights;
      return result.output;
    });
  y = with_residual(y, feed_norm_, [&](const Tensor& in) {
    return feed_out_(dropout_(activate(feed_in_(in), options_.activation)));
  });
  return {y, weights};
}

}  // namespace attn::nn
