#include "attn/nn/mechanisms/vision/co_attention_parallel.hpp"

#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/padding.hpp"

namespace attn::nn {

ParallelCoAttention::ParallelCoAttention(const CoAttentionOptions& options)
    : w_b_(add("W_b", without_bias(options.image_dim, options.question_dim))),
      w_v_(add("W_v", without_bias(options.image_dim, options.hidden_dim))),
      w_q_(add("W_q", without_bias(options.question_dim, options.hidden_dim))),
      w_hv_(add("w_hv", fan_in_uniform({options.hidden_dim}, options.hidden_dim))),
      w_hq_(add("w_hq", fan_in_uniform({options.hidden_dim}, options.hidden_dim))) {}

CoAttentionLook ParallelCoAttention::forward(const CoAttentionInputs& in,
                                             const Want& want) const {
  const Tensor image = padding::zero_past(in.image, in.image_lens);
  const Tensor question = padding::zero_past(in.question, in.question_lens);
  const Tensor image_hidden = w_v_(image);
  const Tensor question_hidden = w_q_(question);
  const Tensor asked = matmul(question, w_b_.weight());

  // tanh as a cap of 1, and no normaliser: the weights of these are C and its transpose.
  const auto affinity = spec::dot() | spec::soft_cap(1.0);
  const auto words = question.size(1);
  const auto regions = image.size(1);
  const Attended by_word =
      attend(asked, image, image_hidden, affinity,
             padding::pairs(in.question_lens, in.image_lens, words, regions), spec::identity(),
             want | Want::output);
  const Attended by_region =
      attend(image, asked, question_hidden, affinity,
             padding::pairs(in.image_lens, in.question_lens, regions, words), spec::identity());

  const Attended seen = additive_pooling(image_hidden + by_region.output, w_hv_, image,
                                         padding::keys(in.image_lens));
  const Attended read = additive_pooling(question_hidden + by_word.output, w_hq_, question,
                                         padding::keys(in.question_lens));
  return {by_word.weights, seen.weights.squeeze(1), read.weights.squeeze(1),
          seen.output.squeeze(1), read.output.squeeze(1)};
}

}  // namespace attn::nn
