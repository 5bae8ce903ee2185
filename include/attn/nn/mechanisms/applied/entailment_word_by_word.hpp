/// Word-by-word attention of textual entailment: each word of the hypothesis looks at the
/// premise, and what was seen is carried along. Rocktaeschel et al., 2016, arXiv:1509.06664.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"

namespace attn::nn {

struct Entailed {
  Tensor weights;  ///< [batch, hypothesis, premise], 0 past the hypothesis
  Tensor r;        ///< [batch, hypothesis, dim], 0 past the hypothesis
  Tensor h_star;   ///< [batch, dim]; 0 for an empty hypothesis
};

/// M_t = tanh(W_y Y + (W_h h_t + W_r r_{t-1})), a_t = softmax(w^T M_t),
/// r_t = sum a_t Y + tanh(W_t r_{t-1}), h* = tanh(W_p r_N + W_x h_N), r_0 = 0.
///
/// It loops over the hypothesis because r of a word enters the query of the next; W_y Y and W_h
/// h are made before the loop, and M_t is never built: the score is additive.
class WordByWordAttention : public Module {
 public:
  explicit WordByWordAttention(std::int64_t dim);

  /// premise [batch, premise, dim], hypothesis [batch, hypothesis, dim]; lengths i64 [batch].
  Entailed forward(const Tensor& premise, const Tensor& hypothesis,
                   const Tensor& premise_lens = {}, const Tensor& hypothesis_lens = {}) const;

 private:
  Linear w_y_;  ///< "W_y", "W_h", "W_r", "W_t", "W_p", "W_x": [dim, dim], no bias
  Linear w_h_;
  Linear w_r_;
  Linear w_t_;
  Linear w_p_;
  Linear w_x_;
  Tensor w_;  ///< "w" [dim]
};

}  // namespace attn::nn
