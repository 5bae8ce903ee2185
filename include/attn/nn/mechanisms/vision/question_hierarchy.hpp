/// The question hierarchy: words become phrases, phrases a question. Lu, Yang, Batra and
/// Parikh, 2016, arXiv:1606.00061.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/conv.hpp"
#include "attn/nn/recurrent.hpp"

namespace attn::nn {

struct QuestionHierarchyOptions {
  std::int64_t word_dim;
  std::int64_t phrase_dim;
  std::int64_t hidden_dim;
};

struct QuestionLevels {
  Tensor phrase;    ///< [batch, words, phrase_dim]
  Tensor question;  ///< [batch, words, hidden_dim]; both are 0 past the length
};

/// p_s,t = tanh(W_s q_{t..t+s-1} + b_s) for s = 1, 2, 3 with zeros past the end of the
/// sentence, phrase_t = max_s p_s,t, question = LSTM(phrase), all states.
class QuestionHierarchy : public Module {
 public:
  explicit QuestionHierarchy(const QuestionHierarchyOptions& options);

  /// words [batch, words, word_dim], lengths i64 [batch] or none.
  QuestionLevels forward(const Tensor& words, const Tensor& lengths = {}) const;

 private:
  Conv1d conv1_;
  Conv1d conv2_;
  Conv1d conv3_;
  Lstm lstm_;
};

}  // namespace attn::nn
