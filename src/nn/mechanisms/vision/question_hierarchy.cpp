#include "attn/nn/mechanisms/vision/question_hierarchy.hpp"

#include <cstdint>

#include "attn/nn/conv.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// A convolution that looks `words` - 1 words ahead.
Conv1d phrases_of(const QuestionHierarchyOptions& options, std::int64_t words) {
  return Conv1d({.in = options.word_dim, .out = options.phrase_dim, .kernel = words},
                {.pad_after = words - 1});
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

}  // namespace attn::nn
