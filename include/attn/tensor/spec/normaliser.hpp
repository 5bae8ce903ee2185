/// Normalisers: how the scores of a row become weights, and what multiplies the weights
/// afterwards. Every tensor given here gets its gradient.
///
///     softmax({.dropout = 0.1, .key = random.next()})
///     softmax() | local_gaussian(centre, sigma)

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <vector>

#include "attn/kernels/recipe.hpp"
#include "attn/tensor/spec/stage.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::spec {

using WeightModifier = Stage<AnyWeight>;

/// A normaliser and the modifiers of its weights, in order.
struct Normaliser {
  Stage<AnyNormaliser> normaliser;
  std::vector<WeightModifier> modifiers;
  bool has_log_sum_exp = false;

  Normaliser then(const WeightModifier& next) const;
};
inline Normaliser operator|(const Normaliser& normaliser, const WeightModifier& next) {
  return normaliser.then(next);
}

// Normalisers.

struct SoftmaxOptions {
  double dropout = 0.0;  ///< the probability of a weight to be dropped
  /// The draw, random.next(); needed where weights are dropped.
  std::optional<std::uint64_t> key{};
};
Normaliser softmax(const SoftmaxOptions& options = {});
/// exp(s) / (exp(sink) + sum exp(s)), sink being [heads] or [1].
Normaliser softmax_with_sink(const Tensor& sink, const SoftmaxOptions& options = {});
Normaliser identity();        ///< w = s
Normaliser mean();            ///< s / the number of kept keys
Normaliser sigmoid();         ///< each weight alone
Normaliser summed_sigmoid();  ///< sigmoid(s) / sum sigmoid(s)
Normaliser hard_argmax();     ///< 1 at the first largest score; no gradient to the scores
/// 1 at a key drawn with the probabilities of softmax(s); no gradient to the scores.
Normaliser hard_sample(std::uint64_t key);
Normaliser sparsemax();

// Modifiers of weights. Nothing is renormalised.

/// w exp(-(k - centre)^2 / (2 sigma^2)), centre being a row table (spec/stage.hpp): local-p.
WeightModifier local_gaussian(const Tensor& centre, double sigma);
WeightModifier scale_weight(const Tensor& gate);  ///< gate * w, a row table
WeightModifier dropout(double probability, std::uint64_t key);

}  // namespace attn::spec
