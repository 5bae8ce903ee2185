#include "models/transformer/layer_step.hpp"

#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/packed_linear.hpp"

namespace attn::models::transformer {

LayerStep::LayerStep(const nn::TransformerLayer& layer, PackedLayers& packed)
    : layer_(layer),
      self_in_(packed.get(layer.self().weight(0), layer.self().bias(0))),
      self_out_(packed.get(layer.self().out())),
      query_(packed.get(layer.memory().weight(0), layer.memory().bias(0))),
      memory_out_(packed.get(layer.memory().out())),
      feed_in_(packed.get(layer.feed_in())),
      feed_out_(packed.get(layer.feed_out())) {}

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
  return {feed_out_.plus(feed_in_(layer_.feed_norm()(z), Then::relu), z), over.weights};
}

}  // namespace attn::models::transformer
