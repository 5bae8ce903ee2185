// The stacks of layers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/packed_linear.hpp"
#include "models/transformer/inside.hpp"
#include "models/transformer/layer_step.hpp"
#include "models/transformer/model.hpp"
#include "models/transformer/position_tables.hpp"

namespace attn::models::transformer {
namespace {

/// Distances that have vectors of their own, on either side; the paper's large model has 16.
constexpr std::int64_t kMaxDistance = 16;

nn::TransformerLayer layer_of(const ModelOptions& options,
                              const nn::LayerConvention& convention) {
  return {{.dim = options.dim,
           .heads = options.heads,
           .feed_forward_dim = options.feed_forward,
           .norm = nn::NormOrder::before,
           .dropout = options.dropout,
           .max_distance = options.positions == Positions::relative ? kMaxDistance : 0},
          convention};
}

nn::AttentionContext within(const Keep& keep, const PositionTables& positions) {
  return {.keep = keep, .rotary = positions.rotary};
}

}  // namespace

Encoder::Encoder(const ModelOptions& options)
    : norm_(add("norm", nn::LayerNorm({.features = options.dim}))) {
  for (std::int64_t i = 0; i < options.encoder_layers; ++i)
    layers_.push_back(add(std::to_string(i), layer_of(options, nn::kModelEncoder)));
}

Tensor Encoder::operator()(const Tensor& x, const Tensor& lengths,
                           const PositionTables& positions) const {
  const nn::AttentionContext self = within(spec::lengths(lengths), positions);
  Tensor y = x;
  for (const nn::TransformerLayer& layer : layers_) y = layer.forward(y, self).output;
  return norm_(y);
}

std::vector<Inside> Encoder::inside(const Tensor& x, const Tensor& lengths,
                                    const PositionTables& positions) const {
  const nn::AttentionContext self = within(spec::lengths(lengths), positions);
  std::vector<Inside> all;
  Tensor y = x;
  for (const nn::TransformerLayer& layer : layers_) {
    const Tensor normal = layer.self_norm()(y);
    all.emplace_back(layer.self(), normal, normal, self);
    y = layer.forward(y, self).output;
  }
  return all;
}

Decoder::Decoder(const ModelOptions& options)
    : norm_(add("norm", nn::LayerNorm({.features = options.dim}))) {
  for (std::int64_t i = 0; i < options.decoder_layers; ++i)
    layers_.push_back(add(std::to_string(i), layer_of(options, nn::kModelDecoder)));
}

std::vector<Tensor> Decoder::remember(const Tensor& memory) const {
  std::vector<Tensor> all;
  all.reserve(layers_.size());
  for (const nn::TransformerLayer& layer : layers_)
    all.push_back(layer.memory().remember(memory));
  return all;
}

Tensor Decoder::operator()(const Tensor& x, const Tensor& memory, const Tensor& lengths,
                           const PositionTables& positions) const {
  // Padding comes last, so what counts never looks at it.
  const nn::AttentionContext self = within(spec::causal(), positions);
  const nn::AttentionContext source{.keep = spec::lengths(lengths)};
  Tensor y = x;
  for (const nn::TransformerLayer& layer : layers_)
    y = layer.forward(y, self, memory, source).output;
  return norm_(y);
}

std::vector<Decoder::InsideLayer> Decoder::inside(const Tensor& x, const Tensor& memory,
                                                  const nn::AttentionContext& source,
                                                  const PositionTables& positions) const {
  const nn::AttentionContext self = within(spec::causal(), positions);
  std::vector<InsideLayer> all;
  Tensor y = x;
  for (const nn::TransformerLayer& layer : layers_) {
    const Tensor normal = layer.self_norm()(y);
    const Tensor z = y + layer.self().forward_with(normal, normal, normal, self).output;
    all.push_back({Inside(layer.self(), normal, normal, self),
                   Inside(layer.memory(), layer.memory_norm()(z), memory, source)});
    y = layer.forward(y, self, memory, source).output;
  }
  return all;
}

std::vector<LayerStep> Decoder::begin(PackedLayers& packed) const {
  std::vector<LayerStep> steps;
  steps.reserve(layers_.size());
  for (const nn::TransformerLayer& layer : layers_) steps.emplace_back(layer, packed);
  return steps;
}

Decoder::Next Decoder::next(const Tensor& x, const std::vector<Tensor>& memory,
                            const nn::AttentionContext& source, const PositionTables& positions,
                            std::vector<LayerStep>& steps) const {
  nn::AttentionContext over = source;
  over.want = Want::output;
  nn::TransformerLayer::Result y{x, {}};
  for (std::size_t i = 0; i < steps.size(); ++i)
    y = steps[i](y.output, positions.rotary, memory[i], i + 1 == steps.size() ? source : over);
  return {norm_(y.output), y.weights.defined() ? mean(y.weights, 1) : Tensor()};
}

}  // namespace attn::models::transformer
