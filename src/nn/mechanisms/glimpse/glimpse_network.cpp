#include "attn/nn/mechanisms/glimpse/glimpse_network.hpp"

#include "attn/nn/linear.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {

GlimpseNetwork::GlimpseNetwork(const GlimpseNetworkOptions& options)
    : glimpse_hidden_(add("glimpse_hidden",
                          Linear({.in = options.glimpse_dim, .out = options.glimpse_hidden}))),
      location_hidden_(
          add("location_hidden", Linear({.in = 2, .out = options.location_hidden}))),
      glimpse_out_(
          add("glimpse_out", Linear({.in = options.glimpse_hidden, .out = options.out_dim}))),
      location_out_(add("location_out",
                        Linear({.in = options.location_hidden, .out = options.out_dim}))) {}

Tensor GlimpseNetwork::forward(const Tensor& glimpse, const Tensor& location) const {
  const Tensor what = glimpse_out_(relu(glimpse_hidden_(glimpse)));
  const Tensor where = location_out_(relu(location_hidden_(location)));
  return relu(what + where);
}

}  // namespace attn::nn
