// The levels of a question, and the answer from all of them.

#include <cstdint>
#include <vector>

#include "attn/nn/conv.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/vision/hierarchical_answer.hpp"
#include "attn/nn/mechanisms/vision/question_hierarchy.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// A convolution that looks `words` - 1 words ahead.
Conv1d phrases_of(const QuestionHierarchyOptions& options, std::int64_t words) {
  return Conv1d({.in = options.word_dim, .out = options.phrase_dim, .kernel = words},
                {.pad_after = words - 1});
}

Tensor beside(const AnswerLevel& level, const Tensor& before) {
  return concat(std::vector<Tensor>{level.question + level.image, before}, -1);
}

}  // namespace

QuestionHierarchy::QuestionHierarchy(const QuestionHierarchyOptions& options)
    : conv1_(add("conv1", phrases_of(options, 1))),
      conv2_(add("conv2", phrases_of(options, 2))),
      conv3_(add("conv3", phrases_of(options, 3))),
      lstm_(add("lstm", Lstm({.in = options.phrase_dim, .hidden = options.hidden_dim}))) {}

QuestionLevels QuestionHierarchy::forward(const Tensor& words, const Tensor& lengths) const {
  const Tensor known = padding::zero_past(words, lengths).transpose(1, 2);
  const Tensor largest =
      maximum(maximum(tanh(conv1_(known)), tanh(conv2_(known))), tanh(conv3_(known)));
  const Tensor phrase = padding::zero_past(largest.transpose(1, 2), lengths);
  return {phrase, lstm_(phrase, {}, {}, lengths).out};
}

HierarchicalAnswer::HierarchicalAnswer(const HierarchicalAnswerOptions& options)
    : w_w_(add("W_w", Linear({.in = options.dim, .out = options.word_hidden}))),
      w_p_(add("W_p", Linear({.in = options.dim + options.word_hidden,
                              .out = options.phrase_hidden}))),
      w_s_(add("W_s", Linear({.in = options.dim + options.phrase_hidden,
                              .out = options.question_hidden}))),
      w_h_(add("W_h", Linear({.in = options.question_hidden, .out = options.answers}))) {}

Tensor HierarchicalAnswer::forward(const AnswerLevel& word, const AnswerLevel& phrase,
                                   const AnswerLevel& question) const {
  const Tensor h_w = tanh(w_w_(word.question + word.image));
  const Tensor h_p = tanh(w_p_(beside(phrase, h_w)));
  const Tensor h_s = tanh(w_s_(beside(question, h_p)));
  return w_h_(h_s);
}

}  // namespace attn::nn
