/// Additive score: score(q, k) = w_v . tanh(W_q q + W_k k), a small network that compares
/// vectors of different sizes. Bahdanau, Cho and Bengio, 2015, arXiv:1409.0473.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct AdditiveScoreOptions {
  std::int64_t query_dim;
  std::int64_t key_dim;
  std::int64_t hidden_dim;
  double dropout = 0.0;  ///< of the weights, while training
};

/// w = softmax(w_v . tanh(W_q q + W_k k)), context = w v. The keys are projected once, and the
/// [queries, keys, hidden_dim] numbers under tanh are never stored.
class AdditiveScore : public Module {
 public:
  explicit AdditiveScore(const AdditiveScoreOptions& options);

  /// q [batch, queries, query_dim], k [batch, keys, key_dim], v [batch, keys, value_dim].
  Attended forward(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& keep = {},
                   const Want& want = Want::output) const;

  // Its parts, as a decoder needs them: W_k k is made once, W_q q at each step.
  Tensor keys(const Tensor& k) const { return w_k_(k); }
  const Tensor& query_weight() const { return w_q_.weight(); }  ///< [hidden_dim, query_dim]
  Tensor score_weight() const { return w_v_.weight().reshape({-1}); }

 private:
  double dropout_;
  Linear w_q_;  ///< "W_q" [hidden_dim, query_dim], no bias
  Linear w_k_;  ///< "W_k" [hidden_dim, key_dim], no bias
  Linear w_v_;  ///< "w_v" [1, hidden_dim], no bias
};

/// The same as a layer, with dropout.
using AdditiveAttention = AdditiveScore;
using AdditiveAttentionOptions = AdditiveScoreOptions;

/// softmax(w . tanh(hidden)) over the items and the sum of them, with a query learnt in w:
/// hidden [batch, items, hidden_dim], items [batch, items, dim]; output [batch, 1, dim], and
/// weights.
Attended additive_pooling(const Tensor& hidden, const Tensor& w, const Tensor& items,
                          const Mask& keep);

}  // namespace attn::nn
