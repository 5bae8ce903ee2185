/// The Transformer as a model: its two stacks, its loss, and the start of a decoding.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/models/steering.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/copying.hpp"
#include "models/packed_linear.hpp"
#include "models/step_steering.hpp"
#include "models/transformer/attention.hpp"
#include "models/transformer/layer.hpp"
#include "models/transformer/places.hpp"
#include "models/words.hpp"

namespace attn::models::transformer {

class Encoder : public nn::Module {
 public:
  explicit Encoder(const ModelOptions& options);
  /// x [batch, source, dim] -> the same.
  Tensor operator()(const Tensor& x, const Tensor& lengths, const Places& places) const;
  /// Of each layer.
  std::vector<Inside> inside(const Tensor& x, const Tensor& lengths,
                             const Places& places) const;

 private:
  std::vector<EncoderLayer> layers_;
  nn::LayerNorm norm_;
};

class Decoder : public nn::Module {
 public:
  explicit Decoder(const ModelOptions& options);

  /// Keys and values of the source for each layer.
  std::vector<Tensor> remember(const Tensor& memory) const;
  /// Teacher forcing: x [batch, positions, dim] -> the same.
  Tensor operator()(const Tensor& x, const Tensor& memory, const Tensor& lengths,
                    const Places& places) const;

  /// Of each layer, as `source` steers the attention over the source.
  std::vector<DecoderLayer::Both> inside(const Tensor& x, const Tensor& memory,
                                         const StepSteering& source,
                                         const Places& places) const;

  struct Made {
    Tensor states;   ///< the shape of x
    Tensor weights;  ///< [batch, positions, source], the mean over heads of the last layer's
  };
  /// What a decoding has of each layer, nothing said as yet.
  std::vector<DecoderLayer::Kept> begin(PackedLayers& packed) const;
  /// One position: x [sources, rows of a source, dim]; `memory` and `kept` have one for each
  /// layer.
  Made next(const Tensor& x, const std::vector<Tensor>& memory, const StepSteering& source,
            const Places& places, std::vector<DecoderLayer::Kept>& kept) const;

 private:
  std::vector<DecoderLayer> layers_;
  nn::LayerNorm norm_;
};

class Transformer : public Seq2Seq {
 public:
  explicit Transformer(const ModelOptions& options);

  Tensor loss(const Batch& batch, const LossOptions& options) const override;
  std::unique_ptr<Decoding> decode(const Tensor& source, const Tensor& lengths) const override;
  std::vector<Head> heads(const Batch& batch, const Steering& steering) const override;
  std::vector<HeadPlace> head_places() const override;
  HeadRow head_row(const Batch& batch, const HeadPlace& place, std::int64_t row,
                   const Steering& steering) const override;

  const ModelOptions& options() const { return options_; }
  const Words& words() const { return words_; }
  const Decoder& decoder() const { return decoder_; }
  PackedLayers& packed() const { return *packed_; }
  /// Null for a model that does not copy.
  const CopyHead* copy() const { return copy_ ? &*copy_ : nullptr; }
  struct Input {
    Tensor words;  ///< [batch, positions, dim], with what their places add
    Places places;
  };
  /// Target words i64 [batch, positions], of as many places or one for all.
  Input input(const Tensor& ids, const Places& places) const;
  /// Places as words of this model have them.
  Places places(const PlaceRange& range) const;
  /// The source as the encoder sees it, [batch, source, dim].
  Tensor encode(const Tensor& source, const Tensor& lengths) const;

 private:
  /// The attentions of each layer when the batch is read.
  struct AllInside {
    std::vector<Inside> encoder;
    std::vector<DecoderLayer::Both> decoder;
  };
  AllInside inside(const Batch& batch, const Steering& steering) const;

  ModelOptions options_;
  Words words_;
  Encoder encoder_;
  Decoder decoder_;
  std::optional<CopyHead> copy_;
  std::unique_ptr<PackedLayers> packed_ = std::make_unique<PackedLayers>();
  std::unique_ptr<FirstPlaces> first_places_ = std::make_unique<FirstPlaces>();
};

/// A decoding under way; the model must outlive it.
std::unique_ptr<Decoding> start_decoding(const Transformer& model, const Tensor& source,
                                         const Tensor& lengths);

}  // namespace attn::models::transformer
