/// Parallel co-attention: image and question look at each other at once. Lu, Yang, Batra and
/// Parikh, 2016, arXiv:1606.00061.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct CoAttentionOptions {
  std::int64_t image_dim;
  std::int64_t question_dim;
  std::int64_t hidden_dim;
};

/// What both sides hold; lengths are i64 [batch] or none.
struct CoAttentionInputs {
  Tensor image;     ///< [batch, regions, image_dim]
  Tensor question;  ///< [batch, words, question_dim]
  Tensor image_lens{};
  Tensor question_lens{};
};

struct CoAttentionLook {
  Tensor affinity;          ///< [batch, words, regions]; not defined unless weights are wanted
  Tensor image_weights;     ///< [batch, regions]
  Tensor question_weights;  ///< [batch, words]
  Tensor image_vector;      ///< [batch, image_dim]
  Tensor question_vector;   ///< [batch, question_dim]
};

/// C_tn = tanh(q_t^T W_b v_n), 0 at masked pairs; H_v[n] = tanh(W_v v_n + sum_t C_tn W_q q_t),
/// H_q[t] = tanh(W_q q_t + sum_n C_tn W_v v_n); a = softmax(w_h . H). The vectors are weighted
/// sums of the raw features. C is made only when it is wanted.
class ParallelCoAttention : public Module {
 public:
  explicit ParallelCoAttention(const CoAttentionOptions& options);

  CoAttentionLook forward(const CoAttentionInputs& in, const Want& want = Want::output) const;

 private:
  Linear w_b_;   ///< "W_b" [question_dim, image_dim], no bias
  Linear w_v_;   ///< "W_v" [hidden_dim, image_dim], no bias
  Linear w_q_;   ///< "W_q" [hidden_dim, question_dim], no bias
  Tensor w_hv_;  ///< [hidden_dim]
  Tensor w_hq_;  ///< [hidden_dim]
};

}  // namespace attn::nn
