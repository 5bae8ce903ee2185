#include "attn/nn/mechanisms/applied/las_listener_layer.hpp"

#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/recurrent.hpp"
#include "nn/padding.hpp"

namespace attn::nn {

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
