// The stacks of layers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/packed_linear.hpp"
#include "models/step_steering.hpp"
#include "models/transformer/attention.hpp"
#include "models/transformer/layer.hpp"
#include "models/transformer/model.hpp"
#include "models/transformer/places.hpp"

namespace attn::models::transformer {

Encoder::Encoder(const ModelOptions& options)
    : norm_(add("norm", nn::LayerNorm({.features = options.dim}))) {
  for (std::int64_t i = 0; i < options.encoder_layers; ++i)
    layers_.push_back(add(std::to_string(i), EncoderLayer(options)));
}

Tensor Encoder::operator()(const Tensor& x, const Tensor& lengths, const Places& places) const {
  const SelfPlaces self{spec::lengths(lengths), places.turns};
  Tensor made = x;
  for (const EncoderLayer& layer : layers_) made = layer(made, self);
  return norm_(made);
}

std::vector<Inside> Encoder::inside(const Tensor& x, const Tensor& lengths,
                                    const Places& places) const {
  const SelfPlaces self{spec::lengths(lengths), places.turns};
  std::vector<Inside> all;
  Tensor made = x;
  for (const EncoderLayer& layer : layers_) {
    all.push_back(layer.inside(made, self));
    made = layer(made, self);
  }
  return all;
}

Decoder::Decoder(const ModelOptions& options)
    : norm_(add("norm", nn::LayerNorm({.features = options.dim}))) {
  for (std::int64_t i = 0; i < options.decoder_layers; ++i)
    layers_.push_back(add(std::to_string(i), DecoderLayer(options)));
}

std::vector<Tensor> Decoder::remember(const Tensor& memory) const {
  std::vector<Tensor> made;
  made.reserve(layers_.size());
  for (const DecoderLayer& layer : layers_) made.push_back(layer.remember(memory));
  return made;
}

Tensor Decoder::operator()(const Tensor& x, const Tensor& memory, const Tensor& lengths,
                           const Places& places) const {
  // Padding comes last, so what counts never looks at it.
  const SelfPlaces self{spec::causal(), places.turns};
  Memory seen{{}, {.keep = spec::lengths(lengths)}, Want::output};
  Tensor made = x;
  for (const DecoderLayer& layer : layers_) {
    seen.at = layer.remember(memory);
    made = layer(made, self, seen).x;
  }
  return norm_(made);
}

std::vector<DecoderLayer::Both> Decoder::inside(const Tensor& x, const Tensor& memory,
                                                const StepSteering& source,
                                                const Places& places) const {
  const SelfPlaces self{spec::causal(), places.turns};
  Memory seen{{}, source, Want::output};
  std::vector<DecoderLayer::Both> all;
  Tensor made = x;
  for (const DecoderLayer& layer : layers_) {
    seen.at = layer.remember(memory);
    all.push_back(layer.inside(made, self, seen));
    made = layer(made, self, seen).x;
  }
  return all;
}

std::vector<DecoderLayer::Kept> Decoder::begin(PackedLayers& packed) const {
  std::vector<DecoderLayer::Kept> kept;
  kept.reserve(layers_.size());
  for (const DecoderLayer& layer : layers_) kept.push_back({layer.packed(packed), {}});
  return kept;
}

Decoder::Made Decoder::next(const Tensor& x, const std::vector<Tensor>& memory,
                            const StepSteering& source, const Places& places,
                            std::vector<DecoderLayer::Kept>& kept) const {
  Memory seen{{}, source, Want::output};
  DecoderLayer::Made made{x, {}};
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (i + 1 == layers_.size()) seen.want = Want::output | Want::weights;
    seen.at = memory[i];
    made = layers_[i].next(made.x, places.turns, seen, kept[i]);
  }
  return {norm_(made.x), mean(made.weights, 1)};
}

}  // namespace attn::models::transformer
