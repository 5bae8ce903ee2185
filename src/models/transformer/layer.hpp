/// A layer of the Transformer's encoder and one of its decoder, norms in front.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/models/options.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/packed_linear.hpp"
#include "models/transformer/attention.hpp"
#include "models/transformer/past.hpp"

namespace attn::models::transformer {

/// W_2 relu(W_1 x).
class FeedForward : public nn::Module {
 public:
  explicit FeedForward(const ModelOptions& options);
  Tensor operator()(const Tensor& x) const;

  const nn::Linear& in() const { return in_; }
  const nn::Linear& out() const { return out_; }

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
  Inside inside(const Tensor& x, const SelfPlaces& places) const {
    return self_.inside(self_norm_(x), places);
  }

 private:
  nn::LayerNorm self_norm_;
  SelfAttention self_;
  nn::LayerNorm feed_norm_;
  FeedForward feed_;
  nn::Dropout dropout_;
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
  /// Its attention among the positions, and the one over the source.
  struct Both {
    Inside self;
    Inside cross;
  };
  Both inside(const Tensor& x, const SelfPlaces& places, const Memory& memory) const;

  /// Its products as a decoding uses them.
  struct Packed {
    PackedLinear self_in;
    PackedLinear self_out;
    PackedLinear query;
    PackedLinear source_out;
    PackedLinear feed_in;
    PackedLinear feed_out;
  };
  Packed packed(PackedLayers& layers) const;
  /// What a decoding has of a layer.
  struct Kept {
    Packed packed;
    Past past;
  };
  /// The next position of each row, without dropout: x [sources, rows of a source, dim]. Rows
  /// of one source are queries of one memory, which is not copied for them.
  Made next(const Tensor& x, const RotaryTable& turns, const Memory& memory, Kept& kept) const;

  Tensor remember(const Tensor& memory) const { return source_.remember(memory); }

 private:
  nn::LayerNorm self_norm_;
  SelfAttention self_;
  nn::LayerNorm source_norm_;
  MemoryAttention source_;
  nn::LayerNorm feed_norm_;
  FeedForward feed_;
  nn::Dropout dropout_;
};

}  // namespace attn::models::transformer
