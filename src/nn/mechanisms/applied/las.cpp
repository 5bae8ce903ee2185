// Listen, Attend and Spell: the attention, and a layer of the listener.

#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/applied/las_attention.hpp"
#include "attn/nn/mechanisms/applied/las_listener_layer.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/padding.hpp"

namespace attn::nn {

LasAttention::LasAttention(const LasAttentionOptions& options)
    : activation_(options.activation),
      phi_(add("phi", Linear({.in = options.query_dim, .out = options.hidden}))),
      psi_(add("psi", Linear({.in = options.encoder_dim, .out = options.hidden}))) {}

Attended LasAttention::forward(const Tensor& encoder, const Tensor& queries,
                               const Tensor& lengths, const Want& want) const {
  const Tensor values = padding::zero_past(encoder, lengths);
  return attend(activate(phi_(queries), activation_), activate(psi_(values), activation_),
                values, spec::dot(), padding::keys(lengths), spec::softmax(), want);
}

ListenerLayer::ListenerLayer(const ListenerLayerOptions& options)
    : lstm_(add("lstm", Lstm({.in = 2 * options.in,
                              .hidden = options.hidden,
                              .direction = Direction::both}))) {}

Listened ListenerLayer::forward(const Tensor& x, const Tensor& lengths) const {
  if (x.rank() != 3)
    fail("attn::nn::ListenerLayer: x is ", x.text(), "; [batch, frames, dim] is accepted");
  const std::int64_t batch = x.size(0);
  const std::int64_t half = x.size(1) / 2;
  std::vector<std::int64_t> halves =
      padding::or_full(lengths, batch, x.size(1)).to_vector<std::int64_t>();
  for (std::int64_t& length : halves) length /= 2;
  const Tensor shorter = Tensor::from(halves, {batch});
  const Tensor pairs = x.slice(1, 0, 2 * half).reshape({batch, half, 2 * x.size(2)});
  return {lstm_(padding::zero_past(pairs, shorter), {}, {}, shorter).out, shorter};
}

}  // namespace attn::nn
