/// Scores: a similarity of query and key, and what is done to it before the mask. Every tensor
/// given here gets its gradient.
///
///     scaled_dot() | soft_cap(50.0) | alibi()
///     additive(weight) | bias(prior_knowledge)

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <vector>

#include "attn/kernels/recipe.hpp"
#include "attn/score/t5_buckets.hpp"
#include "attn/tensor/spec/stage.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::spec {

using ScoreModifier = Stage<AnyScore>;

/// A similarity and its modifiers, in order.
struct Score {
  Similarity similarity = Similarity::dot;
  std::optional<double> scale = 1.0;  ///< of dot and cosine; left out, 1 / sqrt(channels)
  Tensor weights;                     ///< of additive and distance
  Tensor given;                       ///< the scores themselves
  std::vector<ScoreModifier> modifiers;

  Score then(const ScoreModifier& next) const;
};
inline Score operator|(const Score& score, const ScoreModifier& next) {
  return score.then(next);
}

// Similarities.

Score dot(double scale = 1.0);  ///< scale * q . k
Score scaled_dot();             ///< q . k / sqrt(channels)
/// -1/2 |(q - k) w|^2, w being [1], [channels], [kv_heads, 1 or channels], or none.
Score distance(const Tensor& width = {});
/// w . tanh(q + k), q and k being projected already; w [channels] or [kv_heads, channels].
Score additive(const Tensor& weight);
/// scale * q . k / (|q| |k|); a vector of norm <= 1e-8 scores 0.
Score cosine(double scale = 1.0);
Score sum();  ///< q + k, one channel each
/// Scores from elsewhere, [batch, queries, keys] or [batch, heads, queries, keys]. attend() is
/// then called without q and k.
Score given(const Tensor& scores);

// Modifiers. The shapes of tables are those of spec/stage.hpp.

ScoreModifier scale(double factor);         ///< factor * s
ScoreModifier scale(const Tensor& factor);  ///< learnt; a row table
ScoreModifier soft_cap(double cap);         ///< cap * tanh(s / cap)
/// s - m_h |q + offset - k|, with the slopes of the paper, or slopes m [heads].
ScoreModifier alibi(Offset offset = {});
ScoreModifier alibi(const Tensor& slopes, Offset offset = {});
/// s + table[clip(k - (q + offset), -m, m) + m]; an entry table of 2 m + 1. With entries
/// q . a_c, [batch, heads, queries, 2 m + 1], these are Shaw's relative keys.
ScoreModifier relative_table(const Tensor& table, Offset offset = {});

struct T5Options {
  score::T5Direction direction = score::T5Direction::both;
  std::int64_t max_distance = 128;
  Offset offset{};
};
/// s + weight[bucket(k - (q + offset)), head], weight [buckets, heads].
ScoreModifier t5_bias(const Tensor& weight, const T5Options& options = {});

/// s - (k - centre)^2 / (2 sigma^2); centre and a learnt sigma are row tables.
ScoreModifier gaussian(const Tensor& centre, double sigma);
ScoreModifier gaussian(const Tensor& centre, const Tensor& sigma);

ScoreModifier bias(const Tensor& table);                        ///< s + a pair table
ScoreModifier prior(const Tensor& table, double weight = 1.0);  ///< s + weight * a pair table

}  // namespace attn::spec
