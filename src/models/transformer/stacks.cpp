// The stacks of layers, one position of a layer, and what its heads met.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attn/models/seq2seq.hpp"
#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/position/relative_shaw.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "models/head_row.hpp"
#include "models/packed_linear.hpp"
#include "models/transformer/model.hpp"
#include "models/transformer/position_tables.hpp"
#include "nn/attention/split_heads.hpp"

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

nn::AttentionContext within(const Mask& keep, const PositionTables& positions) {
  return {.keep = keep, .rotary = positions.rotary};
}

}  // namespace

Inside::Inside(const nn::MultiHeadAttention& module, const Tensor& query, const Tensor& memory,
               const nn::AttentionContext& attention_context)
    : attention(module),
      context(attention_context),
      heads(module.project(query, memory, memory, attention_context.rotary)) {
  context.want = Want::output | Want::weights;
  const Attended result = module.attend_heads(heads, context);
  weights = result.weights;
  output = result.output;
}

HeadRow Inside::row(const HeadPlace& place, std::int64_t row) const {
  const auto of_head = [&](const Tensor& x) { return x.select(0, 0).select(0, place.head); };
  HeadRow result;
  result.query = on_cpu(of_head(heads.q).select(0, row));
  nn::RelativeShaw::Met met{of_head(heads.keys), of_head(heads.values)};
  if (attention.relative())
    met = attention.relative()->met(met.keys, met.values,
                                    {.queries = heads.q.size(2), .query = row});
  result.keys = on_cpu(met.keys);
  result.values = on_cpu(met.values);
  result.scale = attention.scale() / context.temperature;
  result.scores = product_scores(result.query, result.keys, result.scale);
  result.open = open_keys(context.keep, weights.shape(), place, row, weights.device());
  result.weights = on_cpu(of_head(weights).select(0, row));
  result.output = on_cpu(of_head(nn::split_heads(output, attention.heads())).select(0, row));
  return result;
}

LayerStep::LayerStep(const nn::TransformerLayer& layer, PackedLayers& packed)
    : layer_(layer),
      self_in_(packed.get(layer.self().weight(0), layer.self().bias(0))),
      self_out_(packed.get(layer.self().out())),
      query_(packed.get(layer.memory().weight(0), layer.memory().bias(0))),
      memory_out_(packed.get(layer.memory().out())),
      feed_gate_(layer.feed_gate() ? std::optional(packed.get(*layer.feed_gate()))
                                   : std::nullopt),
      feed_in_(packed.get(layer.feed_in())),
      feed_out_(packed.get(layer.feed_out())) {}

Tensor LayerStep::hidden(const Tensor& x) const {
  if (layer_.is_relu()) return feed_in_(x, Then::relu);
  return layer_.hidden(feed_in_(x), feed_gate_ ? (*feed_gate_)(x) : Tensor());
}

nn::TransformerLayer::Result LayerStep::operator()(const Tensor& x, const RotaryTable& rotary,
                                                   const Tensor& remembered,
                                                   const nn::AttentionContext& over_memory) {
  const Tensor rows = x.reshape({x.size(0) * x.size(1), 1, x.size(2)});
  const auto now = layer_.self().split(self_in_(layer_.self_norm()(rows)), rotary);
  cache_.append(now.keys, now.values);
  // The newest position is the last key: all that the cache has lies before it.
  const Attended among =
      layer_.self().attend_heads({now.q, cache_.keys(), cache_.values()}, {});
  const Tensor y = self_out_.plus(among.output, rows).reshape(x.shape());
  const Attended over = layer_.memory().attend_heads(
      layer_.memory().split(query_(layer_.memory_norm()(y)), remembered), over_memory);
  const Tensor z = memory_out_.plus(over.output, y);
  return {feed_out_.plus(hidden(layer_.feed_norm()(z)), z), over.weights};
}

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
