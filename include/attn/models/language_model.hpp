/// LanguageModel: a causal Transformer that tells, behind every token, which token comes next.
/// Llama's, GPT's and smaller ones are choices of its options.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/norm.hpp"
#include "attn/nn/position/learned_position.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/rotary.hpp"

namespace attn::models {

/// What tells one position from another.
enum class TextPositions {
  rotary,   ///< queries and keys turn
  learned,  ///< a vector of its own is added to each, `window` of them
  none,     ///< only the mask: earlier tokens are a bag
};

struct LanguageModelOptions {
  std::int64_t vocabulary = 0;
  std::int64_t dim = 128;
  std::int64_t layers = 4;
  /// How often the layers run, one round behind the other with the same weights: depth without
  /// parameters. Dehghani et al., 2019, arXiv:1807.03819.
  std::int64_t rounds = 1;
  std::int64_t heads = 4;
  std::int64_t key_value_heads = 0;  ///< 0: heads
  std::int64_t feed_forward = 512;   ///< features between the two projections
  nn::FeedForward feed = nn::FeedForward::swiglu;
  Activation activation = Activation::relu;  ///< of a plain feed-forward part
  nn::NormKind norm = nn::NormKind::rms;
  double norm_eps = 1e-5;
  TextPositions positions = TextPositions::rotary;
  RotaryPairs rotary_pairs = RotaryPairs::halves;
  double rotary_base = 10000.0;
  std::int64_t window = 256;  ///< tokens that it reads at most
  nn::Bias bias = nn::Bias::none;
  bool tie = true;  ///< whether input and output share one table
  double dropout = 0.0;
};

/// InvalidArgument, which names the option, for what does not fit.
void validate(const LanguageModelOptions& options);

/// What was read so far, of every layer; each new token costs one row of scores.
class Reading {
 public:
  std::int64_t length() const { return caches_.empty() ? 0 : caches_.front().length(); }

 private:
  friend class LanguageModel;
  std::vector<nn::KvCache> caches_;
};

/// x = embedding; x = layer(x) for every layer, norms in front; logits = output(norm(x)).
class LanguageModel : public nn::Module {
 public:
  explicit LanguageModel(const LanguageModelOptions& options);

  const LanguageModelOptions& options() const { return options_; }

  /// ids i64 [batch, positions] -> [batch, positions, vocabulary]: the next token behind each.
  Tensor logits(const Tensor& ids) const { return read(ids, nullptr, nullptr); }
  /// The same behind what was read before, which grows by these.
  Tensor logits(const Tensor& ids, Reading& before) const {
    return read(ids, &before, nullptr);
  }
  /// What each position looked at, a tensor [batch, heads, positions, positions] for every
  /// layer of every round.
  std::vector<Tensor> weights(const Tensor& ids) const;

 private:
  Tensor read(const Tensor& ids, Reading* before, std::vector<Tensor>* weights) const;
  RotaryTable turns(std::int64_t first, std::int64_t count) const;

  LanguageModelOptions options_;
  nn::Embedding words_;
  std::optional<nn::LearnedPosition> positions_;
  std::vector<nn::TransformerLayer> layers_;
  nn::Norm norm_;
  std::optional<nn::Linear> output_;
  nn::Dropout dropout_;
  struct Turns;
  std::shared_ptr<Turns> turns_;  ///< of all positions of the window
};

}  // namespace attn::models
