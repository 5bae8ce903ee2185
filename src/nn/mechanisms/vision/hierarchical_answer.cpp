#include "attn/nn/mechanisms/vision/hierarchical_answer.hpp"

#include <vector>

#include "attn/nn/linear.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {
namespace {

Tensor beside(const AnswerLevel& level, const Tensor& before) {
  return concat(std::vector<Tensor>{level.question + level.image, before}, -1);
}

}  // namespace

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
