/// The attentions of Luong's paper: four scores, near and far. Luong, Pham and Manning, 2015,
/// arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/step_steering.hpp"

namespace attn::models {

/// dot h . e, general h^T W_a e, concat v_a . tanh(W_q h + W_k e), location (W_a h)_j; over all
/// places, over |j - t| <= D (local-m), or over |j - p_t| <= D with weights that fade from
/// p_t = length * sigmoid(v_p . tanh(W_p h)) (local-p).
class LuongAttention : public nn::Module {
 public:
  explicit LuongAttention(const ModelOptions& options);

  /// Projects the keys, once.
  DecoderSource read(const Tensor& values, const Tensor& lengths) const;

  /// h [batch, steps, dim]; `first` is the place of the first step in the target.
  Attended forward(const Tensor& h, const DecoderSource& source, std::int64_t first,
                   const StepSteering& steering = {}) const;

  /// One step for those who look inside: h [1, 1, dim], at the place `first`.
  HeadRow row(const Tensor& h, const DecoderSource& source, std::int64_t first,
              const StepSteering& steering) const;

  /// Whether luong_decode does the same.
  bool fused() const { return reach_ == Reach::global && score_ != Score::location; }
  const Tensor& query_weight() const { return w_q_; }
  const Tensor& score_weight() const { return v_a_; }

 private:
  /// Where a step may look, beside what the source's lengths say.
  Keep reach(const Tensor& h, const DecoderSource& source, std::int64_t first) const;
  spec::Score scores(const Tensor& h, const DecoderSource& source) const;
  Tensor centre(const Tensor& h, const DecoderSource& source) const;

  Score score_;
  Reach reach_;
  std::int64_t window_;
  Tensor w_a_;  ///< "W_a" [dim, dim] of general; [max_source, dim] of location
  Tensor w_q_;  ///< "W_q", "W_k" [dim, dim], "v_a" [dim] of concat
  Tensor w_k_;
  Tensor v_a_;
  Tensor w_p_;  ///< "W_p" [dim, dim], "v_p" [dim] of local-p
  Tensor v_p_;
};

}  // namespace attn::models
