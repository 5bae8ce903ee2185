/// Doubly stochastic soft attention: a gate on the context, and a regulariser that asks every
/// location to be looked at once in all. Xu et al., 2015, arXiv:1502.03044.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"

namespace attn::nn {

struct DoublyStochasticInputs {
  Tensor scores;         ///< [batch, steps, locations]
  Tensor annotations;    ///< [batch, locations, dim]
  Tensor hidden;         ///< [batch, steps, hidden_dim]: the decoder's states
  Tensor lengths{};      ///< i64 [batch]: locations, or none
  Tensor target_lens{};  ///< i64 [batch]: steps the regulariser counts, or none
};

struct DoublyStochasticResult {
  Tensor alpha;        ///< [batch, steps, locations]
  Tensor beta;         ///< [batch, steps]
  Tensor context;      ///< [batch, steps, dim]
  Tensor regulariser;  ///< [batch]; its weight and the mean are the caller's
};

/// beta = sigmoid(f_beta h), context = beta * sum_i alpha_i a_i,
/// regulariser = sum over valid i of (1 - sum_{t < target_len} alpha_ti)^2.
class DoublyStochasticAttention : public Module {
 public:
  explicit DoublyStochasticAttention(std::int64_t hidden_dim);

  DoublyStochasticResult forward(const DoublyStochasticInputs& in) const;

 private:
  Linear f_beta_;  ///< "f_beta" [1, hidden_dim] with bias
};

}  // namespace attn::nn
