/// Positions, two non-local blocks and a Transformer layer as one map: a well-formed reading of
/// a composite that a tutorial prints without one (docs/lessons/tutorials-err.md).

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/mechanisms/vision/non_local_block.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/transformer/torch_layers.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct NonLocalTransformerOptions {
  std::int64_t dim;
  std::int64_t inner;  ///< channels of the non-local blocks
  std::int64_t heads;  ///< of the layer
  std::int64_t feed_forward_dim;
};

struct NonLocalTransformerResult {
  Tensor output;         ///< [batch, positions, dim]
  Tensor sigma_weights;  ///< [batch, positions, positions]; not defined unless wanted
  Tensor tau_weights;    ///< the same
};

/// theta(x) = layer(tau(sigma(x + P))): P sinusoidal positions, sigma and tau embedded Gaussian
/// blocks along the positions, layer one of the Transformer's encoder, its norms behind the
/// sums. Non-local blocks of fresh parameters change nothing.
class NonLocalTransformer : public Module {
 public:
  explicit NonLocalTransformer(const NonLocalTransformerOptions& options);

  /// x [batch, positions, dim].
  NonLocalTransformerResult forward(const Tensor& x, const Want& want = Want::output) const;

 private:
  NonLocalBlock sigma_;
  NonLocalBlock tau_;
  TransformerEncoderLayer layer_;
};

}  // namespace attn::nn
