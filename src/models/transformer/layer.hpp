/// A layer of the Transformer's encoder and one of its decoder, norms in front.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/models/options.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/transformer/attention.hpp"
#include "models/transformer/past.hpp"

namespace attn::models::transformer {

/// W_2 relu(W_1 x).
class FeedForward : public nn::Module {
 public:
  explicit FeedForward(const ModelOptions& options);
  Tensor operator()(const Tensor& x) const;

 private:
  nn::Linear in_;
  nn::Linear out_;
  nn::Dropout dropout_;
};

class EncoderLayer : public nn::Module {
 public:
  explicit EncoderLayer(const ModelOptions& options);
  /// x [batch, positions, dim].
  Tensor operator()(const Tensor& x, const SelfPlaces& places) const;

 private:
  nn::LayerNorm self_norm_;
  SelfAttention self_;
  nn::LayerNorm feed_norm_;
  FeedForward feed_;
  nn::Dropout dropout_;
};

/// What a decoder layer sees of the source, and what is wanted of its attention there.
struct Memory {
  Tensor at;  ///< as remembered
  Keep keep;
  Want want = Want::output;
};

class DecoderLayer : public nn::Module {
 public:
  explicit DecoderLayer(const ModelOptions& options);

  struct Made {
    Tensor x;
    Tensor weights;  ///< [batch, heads, positions, source], if they are wanted
  };
  /// All positions at once: x [batch, positions, dim].
  Made operator()(const Tensor& x, const SelfPlaces& places, const Memory& memory) const;
  /// The next position of each row: x [sources, rows of a source, dim]. Rows of one source are
  /// queries of one memory, which is not copied for them.
  Made next(const Tensor& x, const RotaryTable& turns, const Memory& memory, Past& past) const;

  Tensor remember(const Tensor& memory) const { return source_.remember(memory); }

 private:
  Made look_and_feed(const Tensor& x, const Memory& memory) const;

  nn::LayerNorm self_norm_;
  SelfAttention self_;
  nn::LayerNorm source_norm_;
  MemoryAttention source_;
  nn::LayerNorm feed_norm_;
  FeedForward feed_;
  nn::Dropout dropout_;
};

}  // namespace attn::models::transformer
