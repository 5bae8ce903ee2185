/// The Transformer as a model: its two stacks, its loss, and the start of a decoding.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "attn/models/seq2seq.hpp"
#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "models/copying.hpp"
#include "models/packed_linear.hpp"
#include "models/transformer/position_tables.hpp"
#include "models/words.hpp"

namespace attn::models::transformer {

/// What the heads of a call of attention met, for those who look inside a model.
struct Inside {
  /// Runs the attention with its weights.
  Inside(const nn::MultiHeadAttention& module, const Tensor& query, const Tensor& memory,
         const nn::AttentionContext& attention_context);

  nn::MultiHeadAttention attention;
  nn::AttentionContext context;
  nn::MultiHeadAttention::Heads heads;
  Tensor weights;  ///< [batch, heads, queries, keys]
  Tensor output;   ///< [batch, queries, heads * channels]

  /// Of the first of the batch.
  HeadRow row(const HeadPlace& place, std::int64_t row) const;
};

/// One position of a decoder's layer, as a decoding runs it: products laid out once, keys and
/// values of earlier positions in a cache. The same numbers as the layer gives for that
/// position, without dropout.
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
  /// What the features become between their projections.
  Tensor hidden(const Tensor& x) const;

  nn::TransformerLayer layer_;
  PackedLinear self_in_;
  PackedLinear self_out_;
  PackedLinear query_;
  PackedLinear memory_out_;
  std::optional<PackedLinear> feed_gate_;  ///< where features are gated
  PackedLinear feed_in_;
  PackedLinear feed_out_;
  nn::KvCache cache_;
};

class Encoder : public nn::Module {
 public:
  explicit Encoder(const ModelOptions& options);
  /// x [batch, source, dim] -> the same.
  Tensor operator()(const Tensor& x, const Tensor& lengths,
                    const PositionTables& positions) const;
  /// Of each layer.
  std::vector<Inside> inside(const Tensor& x, const Tensor& lengths,
                             const PositionTables& positions) const;

 private:
  std::vector<nn::TransformerLayer> layers_;
  nn::LayerNorm norm_;
};

class Decoder : public nn::Module {
 public:
  explicit Decoder(const ModelOptions& options);

  /// Keys and values of the source for each layer.
  std::vector<Tensor> remember(const Tensor& memory) const;
  /// Teacher forcing: x [batch, positions, dim] -> the same.
  Tensor operator()(const Tensor& x, const Tensor& memory, const Tensor& lengths,
                    const PositionTables& positions) const;

  /// Its attention among the positions, and the one over the source.
  struct InsideLayer {
    Inside self;
    Inside cross;
  };
  /// Of each layer, as `source` steers the attention over the source.
  std::vector<InsideLayer> inside(const Tensor& x, const Tensor& memory,
                                  const nn::AttentionContext& source,
                                  const PositionTables& positions) const;

  struct Next {
    Tensor states;  ///< the shape of x
    /// [batch, positions, source], the mean over heads of the last layer's; none if unwanted.
    Tensor weights;
  };
  /// The layers as a decoding runs them, nothing said as yet.
  std::vector<LayerStep> begin(PackedLayers& packed) const;
  /// One position: x [sources, rows of a source, dim]; `memory` and `steps` have one for each
  /// layer, the last of which is asked for what `source` wants.
  Next next(const Tensor& x, const std::vector<Tensor>& memory,
            const nn::AttentionContext& source, const PositionTables& positions,
            std::vector<LayerStep>& steps) const;

 private:
  std::vector<nn::TransformerLayer> layers_;
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
    Tensor words;  ///< [batch, positions, dim], with what their positions add
    PositionTables positions;
  };
  /// Target words i64 [batch, positions], of as many positions or one for all.
  Input input(const Tensor& ids, const PositionTables& positions) const;
  /// Positions as words of this model have them.
  PositionTables positions(const PositionRange& range) const;
  /// The source as the encoder sees it, [batch, source, dim].
  Tensor encode(const Tensor& source, const Tensor& lengths) const;

 private:
  /// The attentions of each layer when the batch is read.
  struct AllInside {
    std::vector<Inside> encoder;
    std::vector<Decoder::InsideLayer> decoder;
  };
  AllInside inside(const Batch& batch, const Steering& steering) const;

  ModelOptions options_;
  Words words_;
  Encoder encoder_;
  Decoder decoder_;
  std::optional<CopyHead> copy_;
  std::unique_ptr<PackedLayers> packed_ = std::make_unique<PackedLayers>();
  std::unique_ptr<PositionCache> position_cache_ = std::make_unique<PositionCache>();
};

/// A decoding under way; the model must outlive it.
std::unique_ptr<Decoding> start_decoding(const Transformer& model, const Tensor& source,
                                         const Tensor& lengths);

}  // namespace attn::models::transformer
