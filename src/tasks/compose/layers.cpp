#include "tasks/compose/layers.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/norm.hpp"
#include "attn/nn/position/relative_skew.hpp"
#include "attn/nn/position/sinusoidal_encoding.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::compose {
namespace {

constexpr nn::LayerConvention kMusicLayer{
    "self_norm", "self",     nullptr,        nullptr,          "feed_norm",
    "feed.in",   "feed.out", nn::kSelfHeads, nn::kMemoryHeads, nn::FirstWeights::glorot_each};

/// Its vectors have a length near 1: as rows of a tied output, logits begin near 0.
nn::Embedding first_table(std::int64_t rows, std::int64_t dim) {
  nn::Embedding table({.rows = rows, .features = dim});
  const NoGrad off_the_tape;
  Tensor weight = table.weight();
  weight.copy_from(weight * (1.0 / std::sqrt(static_cast<double>(dim))));
  return table;
}

/// The place in its step of what each position tells, [count].
Tensor slots_of(std::int64_t first, std::int64_t count, std::int64_t slots) {
  std::vector<std::int64_t> all;
  all.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) all.push_back((first + i) % slots);
  return Tensor::from(all, {count});
}

}  // namespace

MusicTransformer::MusicTransformer(const MusicOptions& options)
    : options_(options),
      tokens_(add("tokens", first_table(options.vocabulary, options.dim))),
      slots_(add("slots", first_table(options.slots, options.dim))),
      norm_(add("norm", nn::Norm(nn::NormKind::layer, {.features = options.dim}))),
      dropout_(add("dropout", nn::Dropout(options.dropout))) {
  for (std::int64_t i = 0; i < options.layers; ++i) {
    const std::string number = std::to_string(i);
    layers_.push_back(
        add("layers." + number, nn::TransformerLayer({.dim = options.dim,
                                                      .heads = options.heads,
                                                      .feed_forward_dim = options.feed_forward,
                                                      .activation = Activation::gelu,
                                                      .norm = nn::NormOrder::before,
                                                      .dropout = options.dropout},
                                                     kMusicLayer)));
    if (options.positions != Positions::relative) continue;
    skews_.push_back(
        add("distances." + number,
            nn::RelativeSkew({.length = options.window, .dim = options.dim / options.heads})));
  }
}

/// What self attention of a layer adds.
Tensor MusicTransformer::attended(std::size_t layer, const Tensor& x, nn::KvCache* cache,
                                  std::vector<Tensor>* weights) const {
  const nn::MultiHeadAttention& self = layers_[layer].self();
  const Tensor in = layers_[layer].self_norm()(x);
  nn::MultiHeadAttention::Heads heads = self.project(in, in, in);
  if (cache != nullptr) {
    cache->append(heads.keys, heads.values);
    heads.keys = cache->keys();
    heads.values = cache->values();
  }
  const Want want = weights == nullptr ? Want::output : Want::output | Want::weights;
  const Attended result =
      skews_.empty()
          ? attend(heads.q, heads.keys, heads.values, spec::scaled_dot(), spec::causal(),
                   spec::softmax(), want)
          : skews_[layer].forward(heads.q, heads.keys, heads.values, {}, want).attended;
  if (weights != nullptr) weights->push_back(result.weights);
  const Tensor joined =
      result.output.permute({0, 2, 1, 3}).reshape({x.size(0), x.size(1), options_.dim});
  return self.out()(joined);
}

Tensor MusicTransformer::read(const Tensor& ids, Reading* before,
                              std::vector<Tensor>* weights) const {
  if (before != nullptr && before->empty())
    before->assign(layers_.size(), nn::KvCache(options_.window));
  const std::int64_t first = before == nullptr ? 0 : before->front().length();
  const Device device = tokens_.weight().device();
  const Tensor slots = slots_of(first, ids.size(1), options_.slots);
  Tensor x = tokens_(ids.to(device)) * std::sqrt(static_cast<double>(options_.dim)) +
             slots_(slots.to(device)) * std::sqrt(static_cast<double>(options_.dim));
  if (options_.positions == Positions::sinusoidal)
    x = nn::sinusoidal_encoding(x, {.offset = first});
  x = dropout_(x);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const nn::TransformerLayer& layer = layers_[i];
    x = x + dropout_(attended(i, x, before == nullptr ? nullptr : &(*before)[i], weights));
    const Tensor features = layer.feed_norm()(x);
    const Tensor inside = dropout_(layer.hidden(layer.feed_in()(features), {}));
    x = x + dropout_(layer.feed_out()(inside));
  }
  return linear(norm_(x), tokens_.weight());
}

std::vector<Tensor> MusicTransformer::weights(const Tensor& ids) const {
  std::vector<Tensor> all;
  read(ids, nullptr, &all);
  return all;
}

}  // namespace attn::tasks::compose
