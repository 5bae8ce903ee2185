#include "models/transformer/layer.hpp"

#include "attn/models/options.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/packed_linear.hpp"
#include "models/transformer/attention.hpp"

namespace attn::models::transformer {
namespace {

nn::LayerNorm norm(const ModelOptions& options) {
  return nn::LayerNorm({.features = options.dim});
}

}  // namespace

FeedForward::FeedForward(const ModelOptions& options)
    : in_(add("in", projection(options.dim, options.feed_forward))),
      out_(add("out", projection(options.feed_forward, options.dim))),
      dropout_(add("dropout", nn::Dropout(options.dropout))) {}

Tensor FeedForward::operator()(const Tensor& x) const {
  return out_(dropout_(relu(in_(x))));
}

EncoderLayer::EncoderLayer(const ModelOptions& options)
    : self_norm_(add("self_norm", norm(options))),
      self_(add("self", SelfAttention(options))),
      feed_norm_(add("feed_norm", norm(options))),
      feed_(add("feed", FeedForward(options))),
      dropout_(add("dropout", nn::Dropout(options.dropout))) {}

Tensor EncoderLayer::operator()(const Tensor& x, const SelfPlaces& places) const {
  const Tensor looked = x + dropout_(self_(self_norm_(x), places));
  return looked + dropout_(feed_(feed_norm_(looked)));
}

DecoderLayer::DecoderLayer(const ModelOptions& options)
    : self_norm_(add("self_norm", norm(options))),
      self_(add("self", SelfAttention(options))),
      source_norm_(add("source_norm", norm(options))),
      source_(add("source", MemoryAttention(options))),
      feed_norm_(add("feed_norm", norm(options))),
      feed_(add("feed", FeedForward(options))),
      dropout_(add("dropout", nn::Dropout(options.dropout))) {}

DecoderLayer::Made DecoderLayer::operator()(const Tensor& x, const SelfPlaces& places,
                                            const Memory& memory) const {
  const Tensor said = x + dropout_(self_(self_norm_(x), places));
  const Attended seen = source_(source_norm_(said), memory);
  const Tensor looked = said + dropout_(seen.output);
  return {looked + dropout_(feed_(feed_norm_(looked))), seen.weights};
}

DecoderLayer::Both DecoderLayer::inside(const Tensor& x, const SelfPlaces& places,
                                        const Memory& memory) const {
  const Tensor normal = self_norm_(x);
  return {self_.inside(normal, places),
          source_.inside(source_norm_(x + self_(normal, places)), memory)};
}

DecoderLayer::Packed DecoderLayer::packed(PackedLayers& layers) const {
  return {.self_in = layers.get(self_.in()),
          .self_out = layers.get(self_.out()),
          .query = layers.get(source_.query()),
          .source_out = layers.get(source_.out()),
          .feed_in = layers.get(feed_.in()),
          .feed_out = layers.get(feed_.out())};
}

DecoderLayer::Made DecoderLayer::next(const Tensor& x, const RotaryTable& turns,
                                      const Memory& memory, Kept& kept) const {
  const auto& [self_in, self_out, query, source_out, feed_in, feed_out] = kept.packed;
  const Tensor rows = x.reshape({x.size(0) * x.size(1), 1, x.size(2)});
  const SelfAttention::Projected made = self_.split(self_in(self_norm_(rows)), turns);
  kept.past.append(made.now);
  // The newest position is the last key: all that is kept lies before it.
  const Tensor said =
      self_out.plus(self_.look(made.q, kept.past.seen(), {}).output, rows).reshape(x.shape());
  const Attended seen = source_.look(query(source_norm_(said)), memory);
  const Tensor looked = source_out.plus(seen.output, said);
  return {feed_out.plus(feed_in(feed_norm_(looked), Then::relu), looked), seen.weights};
}

}  // namespace attn::models::transformer
