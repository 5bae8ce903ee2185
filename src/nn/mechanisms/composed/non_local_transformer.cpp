#include "attn/nn/mechanisms/composed/non_local_transformer.hpp"

#include "attn/nn/mechanisms/vision/non_local_block.hpp"
#include "attn/nn/position/sinusoidal_encoding.hpp"
#include "attn/nn/transformer/torch_layers.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {
namespace {

NonLocalBlock block_of(const NonLocalTransformerOptions& options) {
  return NonLocalBlock({.channels = options.dim, .inner = options.inner, .grid_rank = 1});
}

}  // namespace

NonLocalTransformer::NonLocalTransformer(const NonLocalTransformerOptions& options)
    : sigma_(add("sigma", block_of(options))),
      tau_(add("tau", block_of(options))),
      layer_(add("layer",
                 TransformerEncoderLayer({.dim = options.dim,
                                          .heads = options.heads,
                                          .feed_forward_dim = options.feed_forward_dim}))) {}

NonLocalTransformerResult NonLocalTransformer::forward(const Tensor& x,
                                                       const Want& want) const {
  // A block reads channels first.
  const NonLocalResult first = sigma_.forward(sinusoidal_encoding(x).transpose(1, 2), want);
  const NonLocalResult second = tau_.forward(first.z, want);
  return {layer_(second.z.transpose(1, 2)), first.weights, second.weights};
}

}  // namespace attn::nn
