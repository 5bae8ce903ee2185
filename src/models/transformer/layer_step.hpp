/// One position of a decoder's layer, as a decoding runs it: products laid out once, keys and
/// values of earlier positions in a cache.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/packed_linear.hpp"

namespace attn::models::transformer {

/// The same numbers as the layer gives for that position, without dropout.
class LayerStep {
 public:
  /// The layer normalises first.
  LayerStep(const nn::TransformerLayer& layer, PackedLayers& packed);

  /// x [sources, rows of a source, dim]. Rows of one source are queries of one memory, which is
  /// not copied for them; `remembered` is layer.memory().remember(memory).
  nn::TransformerLayer::Result operator()(const Tensor& x, const RotaryTable& rotary,
                                          const Tensor& remembered,
                                          const nn::AttentionContext& over_memory);

  nn::KvCache& cache() { return cache_; }

 private:
  nn::TransformerLayer layer_;
  PackedLinear self_in_;
  PackedLinear self_out_;
  PackedLinear query_;
  PackedLinear memory_out_;
  PackedLinear feed_in_;
  PackedLinear feed_out_;
  nn::KvCache cache_;
};

}  // namespace attn::models::transformer
