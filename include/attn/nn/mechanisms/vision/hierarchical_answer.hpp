/// The answer from three levels: word, phrase and question, each read beside what the level
/// before found. Lu, Yang, Batra and Parikh, 2016, arXiv:1606.00061.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/linear.hpp"

namespace attn::nn {

struct HierarchicalAnswerOptions {
  std::int64_t dim;  ///< of the attended vectors
  std::int64_t word_hidden;
  std::int64_t phrase_hidden;
  std::int64_t question_hidden;
  std::int64_t answers;
};

/// The attended question and image of one level, both [batch, dim].
struct AnswerLevel {
  Tensor question;
  Tensor image;
};

/// h_w = tanh(W_w (q_w + v_w)), h_p = tanh(W_p [q_p + v_p; h_w]),
/// h_s = tanh(W_s [q_s + v_s; h_p]), logits = W_h h_s.
class HierarchicalAnswer : public Module {
 public:
  explicit HierarchicalAnswer(const HierarchicalAnswerOptions& options);

  /// Logits [batch, answers].
  Tensor forward(const AnswerLevel& word, const AnswerLevel& phrase,
                 const AnswerLevel& question) const;

 private:
  Linear w_w_;
  Linear w_p_;
  Linear w_s_;
  Linear w_h_;
};

}  // namespace attn::nn
