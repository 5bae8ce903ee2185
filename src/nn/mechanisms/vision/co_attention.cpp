// Image and question look at each other, at once or in turns.

#include "attn/core/error.hpp"
#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/vision/co_attention_alternating.hpp"
#include "attn/nn/mechanisms/vision/co_attention_parallel.hpp"
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

GuidedAttention::GuidedAttention(const GuidedAttentionOptions& options)
    : options_(options),
      w_x_(add("W_x.weight",
               fan_in_uniform({options.hidden_dim, options.item_dim}, options.item_dim))),
      w_g_(add("W_g.weight",
               options.guide_dim > 0
                   ? fan_in_uniform({options.hidden_dim, options.guide_dim}, options.guide_dim)
                   : Tensor())),
      w_h_(add("w_h", fan_in_uniform({options.hidden_dim}, options.hidden_dim))) {}

Attended GuidedAttention::forward(const Tensor& items, const Tensor& guide,
                                  const Tensor& lengths, const Want& want) const {
  if (guide.defined() != w_g_.defined())
    fail("attn::nn::GuidedAttention: a guide is ", guide.defined() ? "given" : "missing",
         " where guide_dim is ", options_.guide_dim);
  const Tensor known = padding::zero_past(items, lengths);
  const Tensor q = guide.defined() ? linear(guide, w_g_).unsqueeze(1)
                                   : Tensor::zeros({items.size(0), 1, options_.hidden_dim},
                                                   items.dtype(), items.device());
  return attend(q, linear(known, w_x_), known, spec::additive(w_h_), padding::keys(lengths),
                spec::softmax(), want);
}

AlternatingCoAttention::AlternatingCoAttention(const AlternatingCoAttentionOptions& options)
    : step1_(add("step1", GuidedAttention({.item_dim = options.question_dim,
                                           .hidden_dim = options.hidden_dim}))),
      step2_(add("step2", GuidedAttention({.item_dim = options.image_dim,
                                           .hidden_dim = options.image_hidden_dim > 0
                                                             ? options.image_hidden_dim
                                                             : options.hidden_dim,
                                           .guide_dim = options.question_dim}))),
      step3_(add("step3", GuidedAttention({.item_dim = options.question_dim,
                                           .hidden_dim = options.question_hidden_dim > 0
                                                             ? options.question_hidden_dim
                                                             : options.hidden_dim,
                                           .guide_dim = options.image_dim}))) {}

AlternatingLook AlternatingCoAttention::forward(const CoAttentionInputs& in) const {
  const Want both = Want::output | Want::weights;
  const Attended first = step1_.forward(in.question, {}, in.question_lens, both);
  const Tensor summary = first.output.squeeze(1);
  const Attended second = step2_.forward(in.image, summary, in.image_lens, both);
  const Tensor image = second.output.squeeze(1);
  const Attended third = step3_.forward(in.question, image, in.question_lens, both);
  return {first.weights.squeeze(1),  summary,
          second.weights.squeeze(1), image,
          third.weights.squeeze(1),  third.output.squeeze(1)};
}

}  // namespace attn::nn
