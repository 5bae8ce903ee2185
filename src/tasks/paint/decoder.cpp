#include "tasks/paint/decoder.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/norm.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/conv.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/paint/pixels.hpp"

namespace attn::tasks::paint {
namespace {

constexpr std::int64_t kReach = 4;
constexpr std::int64_t kWindow = 2 * kReach + 1;
constexpr double kPlaceSpread = 0.1;

Tensor first_places(std::int64_t rows, std::int64_t dim) {
  return normal({rows, dim}, 0.0, kPlaceSpread, nn::random());
}

/// 1 for earlier pixels, [1, 1, 9, 9].
Tensor earlier() {
  std::vector<float> mask(kWindow * kWindow, 0.0f);
  for (std::size_t i = 0; i < mask.size() / 2; ++i) mask[i] = 1.0f;
  return Tensor::from(mask, {1, 1, kWindow, kWindow});
}

}  // namespace

PixelDecoder::PixelDecoder(const DecoderOptions& options)
    : options_(options),
      window_(add("window", nn::fan_in_uniform({options.dim, 1, kWindow, kWindow},
                                               kWindow * kWindow / 2))),
      rows_(add("rows", first_places(kSide, options.dim))),
      columns_(add("columns", first_places(kSide, options.dim))),
      classes_(add("classes", first_places(kClasses + 1, options.dim))),
      norm_(add("norm", nn::Norm(nn::NormKind::layer, {.features = options.dim}))),
      output_(add("output", nn::Linear({.in = options.dim, .out = 2}))),
      dropout_(add("dropout", nn::Dropout(options.dropout))) {
  for (std::int64_t i = 0; i < options.layers; ++i)
    layers_.push_back(add("layers." + std::to_string(i),
                          nn::TransformerLayer({.dim = options.dim,
                                                .heads = options.heads,
                                                .feed_forward_dim = options.feed_forward,
                                                .activation = Activation::gelu,
                                                .norm = nn::NormOrder::before,
                                                .dropout = options.dropout},
                                               nn::kModelEncoder)));
}

Tensor PixelDecoder::window() const {
  return window_ * earlier().to(window_.dtype()).to(window_.device());
}

Tensor PixelDecoder::near(const Tensor& pixels) const {
  const Tensor seen =
      conv2d(pixels.to(window_.dtype()), window(), {}, {.pad = {kReach, kReach}});
  return seen.permute({0, 2, 3, 1}).reshape({pixels.size(0), kPixels, options_.dim});
}

Tensor PixelDecoder::places_of(const Tensor& classes) const {
  const Tensor places = rows_.unsqueeze(1) + columns_.unsqueeze(0);
  return places.reshape({1, kPixels, options_.dim}) +
         embedding(classes_, classes.to(classes_.device())).unsqueeze(1);
}

Tensor PixelDecoder::through(Tensor x, Canvas* canvas, std::vector<Tensor>* weights) const {
  nn::AttentionContext context{
      .keep = spec::causal(),
      .want = weights == nullptr ? Want::output : Want::output | Want::weights};
  x = dropout_(x);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (canvas != nullptr) context.cache = &canvas->caches[i];
    const auto result = layers_[i].forward(x, context);
    x = result.output;
    if (weights != nullptr) weights->push_back(result.self_weights);
  }
  return output_(norm_(x));
}

Tensor PixelDecoder::logits(const Tensor& pixels, const Tensor& classes) const {
  return through(near(pixels) + places_of(classes), nullptr, nullptr);
}

std::vector<Tensor> PixelDecoder::weights(const Tensor& pixels, const Tensor& classes) const {
  std::vector<Tensor> all;
  through(near(pixels) + places_of(classes), nullptr, &all);
  return all;
}

Tensor PixelDecoder::begin(const Tensor& pixels, std::int64_t count, const Tensor& classes,
                           Canvas& canvas) const {
  canvas.caches.assign(layers_.size(), nn::KvCache(kPixels));
  canvas.places = places_of(classes).select(0, 0).contiguous();
  const Tensor x =
      near(pixels).slice(1, 0, count + 1) + canvas.places.slice(0, 0, count + 1).unsqueeze(0);
  return through(x.contiguous(), &canvas, nullptr).select(0, 0).select(0, count);
}

Tensor PixelDecoder::next(const Tensor& pixels, std::int64_t at, Canvas& canvas) const {
  // Only the window around it is read: later pixels are 0 there and do not count.
  const std::int64_t row = at / kSide;
  const std::int64_t column = at % kSide;
  const Tensor frame = pad(pad(pixels, 2, kReach, kReach), 3, kReach, kReach);
  const Tensor around =
      frame.slice(2, row, row + kWindow).slice(3, column, column + kWindow).contiguous();
  const Tensor x = conv2d(around.to(window_.dtype()), window()).reshape({1, 1, options_.dim}) +
                   canvas.places.slice(0, at, at + 1).unsqueeze(0);
  return through(x, &canvas, nullptr).reshape({2});
}

}  // namespace attn::tasks::paint
