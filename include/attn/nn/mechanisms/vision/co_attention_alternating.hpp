/// Alternating co-attention: the question is summed up, looks at the image, and is read again
/// in its light. Lu, Yang, Batra and Parikh, 2016, arXiv:1606.00061.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/mechanisms/vision/co_attention_parallel.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

struct GuidedAttentionOptions {
  std::int64_t item_dim;
  std::int64_t hidden_dim;
  std::int64_t guide_dim = 0;  ///< 0: no guide
};

/// A(X; g): a = softmax(w_h . tanh(W_x x + W_g g)), result sum of a x.
class GuidedAttention : public Module {
 public:
  explicit GuidedAttention(const GuidedAttentionOptions& options);

  /// items [batch, items, item_dim], guide [batch, guide_dim] or none, lengths i64 [batch] or
  /// none. Output [batch, 1, item_dim], weights [batch, 1, items].
  Attended forward(const Tensor& items, const Tensor& guide, const Tensor& lengths = {},
                   const Want& want = Want::output) const;

 private:
  GuidedAttentionOptions options_;
  Tensor w_x_;  ///< "W_x.weight" [hidden_dim, item_dim]
  Tensor w_g_;  ///< "W_g.weight" [hidden_dim, guide_dim]
  Tensor w_h_;  ///< "w_h" [hidden_dim]
};

struct AlternatingCoAttentionOptions {
  std::int64_t image_dim;
  std::int64_t question_dim;
  std::int64_t hidden_dim;               ///< of the first step
  std::int64_t image_hidden_dim = 0;     ///< of the second; 0: hidden_dim
  std::int64_t question_hidden_dim = 0;  ///< of the third; 0: hidden_dim
};

struct AlternatingLook {
  Tensor summary_weights;   ///< [batch, words]
  Tensor summary;           ///< [batch, question_dim]
  Tensor image_weights;     ///< [batch, regions]
  Tensor image_vector;      ///< [batch, image_dim]
  Tensor question_weights;  ///< [batch, words]
  Tensor question_vector;   ///< [batch, question_dim]
};

/// summary = A1(question), image = A2(image; summary), question = A3(question; image); each
/// step has parameters of its own: "step1", "step2", "step3".
class AlternatingCoAttention : public Module {
 public:
  explicit AlternatingCoAttention(const AlternatingCoAttentionOptions& options);

  AlternatingLook forward(const CoAttentionInputs& in) const;

 private:
  GuidedAttention step1_;
  GuidedAttention step2_;
  GuidedAttention step3_;
};

}  // namespace attn::nn
