/// Biaffine attention: each word of a sentence points at its head. Dozat and Manning, 2017,
/// arXiv:1611.01734.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/dropout.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {

struct BiaffineOptions {
  std::int64_t dependent_dim;
  std::int64_t head_dim;
  std::int64_t hidden;  ///< what both perceptrons make
  Activation activation = Activation::relu;
  double dropout = 0.0;  ///< of what they make, while training
};

/// Where each dependent may point. Both may be left out.
struct HeadReach {
  Tensor lengths;  ///< i64 [batch]: the first places count
  Mask keep;       ///< beside the lengths
};

struct Biaffine {
  Tensor weights;      ///< [batch, dependents, places]
  Tensor log_sum_exp;  ///< [batch, dependents]; -inf for one that can point nowhere
  Tensor log_prob;     ///< [batch, dependents] of the targets; not defined without them
};

/// d = act(W_d x_i + b_d), h = act(W_h y_j + b_h), s_ij = h_j^T U d_i + u^T [h_j; d_i] + b,
/// p = softmax over j.
///
/// It is the dot product of U d_i + u_h, which is made once for each dependent, with the heads,
/// and a bias u_d . d_i + b, so that attend() does the rest.
class BiaffineAttention : public Module {
 public:
  explicit BiaffineAttention(const BiaffineOptions& options);

  /// dependents [batch, dependents, dependent_dim], heads [batch, places, head_dim]. `targets`
  /// i64 [batch, dependents], -1: none. log_prob is score - log_sum_exp, and 0 without a target
  /// or where there is nowhere to point. A target must be in reach.
  Biaffine forward(const Tensor& dependents, const Tensor& heads, const HeadReach& reach = {},
                   const Tensor& targets = {}) const;

 private:
  Activation activation_;
  Linear dependent_;  ///< "dependent" [hidden, dependent_dim]
  Linear head_;       ///< "head" [hidden, head_dim]
  Dropout dropout_;
  Tensor product_;  ///< "U" [hidden, hidden]: heads, dependents
  Tensor linear_;   ///< "u" [2 hidden]: heads, then dependents
  Tensor bias_;     ///< "b" [1]
};

struct BiaffineLabelOptions {
  std::int64_t dependent_dim;
  std::int64_t head_dim;
  std::int64_t hidden;
  std::int64_t labels;
  Activation activation = Activation::relu;
  double dropout = 0.0;
};

/// The same form with a U, u and b of each label, for pairs that are chosen already: what the
/// relation between a word and its head is.
class BiaffineLabels : public Module {
 public:
  explicit BiaffineLabels(const BiaffineLabelOptions& options);

  /// dependents [batch, dependents, dependent_dim], heads [batch, places, head_dim], chosen i64
  /// [batch, dependents]: the place of each one's head -> logits [batch, dependents, labels].
  Tensor forward(const Tensor& dependents, const Tensor& heads, const Tensor& chosen) const;

 private:
  std::int64_t hidden_;
  std::int64_t labels_;
  Activation activation_;
  Linear dependent_;
  Linear head_;
  Dropout dropout_;
  Linear product_;           ///< "U" [labels hidden, hidden], no bias
  Linear head_logits_;       ///< "u_head" [labels, hidden], no bias
  Linear dependent_logits_;  ///< "u_dependent" [labels, hidden]; its bias is b
};

}  // namespace attn::nn
