#include "attn/nn/mechanisms/composed/multi_dimensional_attention.hpp"

#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

Linear square_map(std::int64_t dim, Bias bias) {
  return Linear({.in = dim, .out = dim, .bias = bias});
}

/// Features as heads of one channel: [batch, tokens, dim] -> [batch, dim, tokens, 1].
Tensor by_feature(const Tensor& x) {
  return x.transpose(1, 2).unsqueeze(3);
}

Mask order_of(TokenOrder order) {
  // No bound before or after is written as -1.
  if (order == TokenOrder::forward) return spec::causal(-1);
  if (order == TokenOrder::backward) return spec::window(0, -1, 1);
  return {};
}

}  // namespace

SourceToTokenAttention::SourceToTokenAttention(const SourceToTokenOptions& options)
    : activation_(options.activation),
      w1_(add("W1", Linear({.in = options.dim,
                            .out = options.hidden > 0 ? options.hidden : options.dim}))),
      w2_(add("W2", Linear({.in = options.hidden > 0 ? options.hidden : options.dim,
                            .out = options.dim}))) {}

SourceLook SourceToTokenAttention::forward(const Tensor& x, const Tensor& lengths) const {
  const Tensor known = padding::zero_past(x, lengths);
  const Tensor scores = w2_(activate(w1_(known), activation_));
  const Tensor keep = lengths.defined()
                          ? padding::first_places(lengths, x.size(1), x.device()).unsqueeze(2)
                          : Tensor();
  const Tensor weights = softmax(scores, 1, keep);
  return {sum(weights * known, 1), weights};
}

TokenToTokenAttention::TokenToTokenAttention(const TokenToTokenOptions& options)
    : options_(options),
      w1_(add("W1", square_map(options.dim, Bias::none))),
      w2_(add("W2", square_map(options.dim, Bias::learnt))),
      wf1_(add("W_f1", square_map(options.dim, Bias::none))),
      wf2_(add("W_f2", square_map(options.dim, Bias::learnt))) {
  if (!(options.cap > 0.0))
    fail("attn::nn::TokenToTokenAttention: cap ", options.cap, "; above 0 is accepted");
}

TokenLook TokenToTokenAttention::forward(const Tensor& x, const Tensor& lengths,
                                         const Want& want) const {
  const Tensor known = padding::zero_past(x, lengths);
  const std::int64_t tokens = x.size(1);
  const Attended looked =
      attend(by_feature(w2_(known)), by_feature(w1_(known)), by_feature(known),
             spec::sum() | spec::soft_cap(options_.cap),
             order_of(options_.order) && padding::pairs(lengths, lengths, tokens, tokens),
             spec::softmax(), want | Want::output);
  const Tensor context = looked.output.squeeze(3).transpose(1, 2);
  const Tensor gate = sigmoid(wf1_(context) + wf2_(known));
  const Tensor mixed = gate * known + (1.0 - gate) * context;
  return {padding::zero_past(mixed, lengths), context,
          looked.weights.defined() ? looked.weights.permute({0, 2, 3, 1}) : Tensor()};
}

}  // namespace attn::nn
