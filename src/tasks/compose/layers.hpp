/// The network of compose: a causal Transformer whose attention knows how far back each key is.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/norm.hpp"
#include "attn/nn/position/relative_skew.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::compose {

/// How it tells positions apart: the Music Transformer's vector for each distance, Vaswani's
/// sines and cosines, or not at all.
enum class Positions { relative, sinusoidal, none };

struct MusicOptions {
  std::int64_t vocabulary;
  std::int64_t slots;  ///< tokens of a step, each of which knows its place in it
  std::int64_t dim;
  std::int64_t layers;
  std::int64_t heads;
  std::int64_t feed_forward;
  std::int64_t window;  ///< tokens that it reads at once
  double dropout;
  Positions positions;
};

/// What was read so far, a cache a layer.
using Reading = std::vector<nn::KvCache>;

/// x = sqrt(dim) embedding + slot; x = layer(x) for every layer, norms in front; logits =
/// norm(x) times the embeddings. Huang et al., 2018, arXiv:1809.04281.
class MusicTransformer : public nn::Module {
 public:
  explicit MusicTransformer(const MusicOptions& options);

  const MusicOptions& options() const { return options_; }

  /// ids i64 [batch, positions] -> [batch, positions, vocabulary]: the next token behind each.
  /// The first position is the first of a step.
  Tensor logits(const Tensor& ids) const { return read(ids, nullptr, nullptr); }
  /// The same behind what was read before, which grows by these.
  Tensor logits(const Tensor& ids, Reading& before) const {
    return read(ids, &before, nullptr);
  }
  /// What each position looked at: [batch, heads, positions, positions] for every layer.
  std::vector<Tensor> weights(const Tensor& ids) const;

 private:
  Tensor read(const Tensor& ids, Reading* before, std::vector<Tensor>* weights) const;
  Tensor attended(std::size_t layer, const Tensor& x, nn::KvCache* cache,
                  std::vector<Tensor>* weights) const;

  MusicOptions options_;
  nn::Embedding tokens_;
  nn::Embedding slots_;
  std::vector<nn::TransformerLayer> layers_;
  std::vector<nn::RelativeSkew> skews_;  ///< one a layer, with relative positions alone
  nn::Norm norm_;
  nn::Dropout dropout_;
};

}  // namespace attn::tasks::compose
