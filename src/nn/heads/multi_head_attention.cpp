#include "attn/nn/heads/multi_head_attention.hpp"

#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/heads/split_heads.hpp"
#include "nn/heads/weight_dropout.hpp"

namespace attn::nn {
namespace {

std::int64_t checked_heads(const MultiHeadAttentionOptions& options) {
  if (options.heads < 1 || options.hidden_dim % options.heads != 0)
    fail("attn::nn::MultiHeadAttention: hidden_dim ", options.hidden_dim, " and ",
         options.heads, " heads; heads that divide hidden_dim are accepted");
  return options.heads;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& options)
    : heads_(checked_heads(options)),
      dropout_(options.dropout),
      w_q_(add(
          "W_q",
          Linear({.in = options.query_dim, .out = options.hidden_dim, .bias = options.bias}))),
      w_k_(add(
          "W_k",
          Linear({.in = options.key_dim, .out = options.hidden_dim, .bias = options.bias}))),
      w_v_(add(
          "W_v",
          Linear({.in = options.value_dim, .out = options.hidden_dim, .bias = options.bias}))),
      w_o_(add("W_o", Linear({.in = options.hidden_dim,
                              .out = options.hidden_dim,
                              .bias = options.bias}))) {}

Attended MultiHeadAttention::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                     const Keep& keep, const Want& want) const {
  Attended looked = attend(split_heads(w_q_(q), heads_), split_heads(w_k_(k), heads_),
                           split_heads(w_v_(v), heads_), spec::scaled_dot(), keep,
                           softmax_with_dropout(*this, dropout_), want);
  if (looked.output.defined()) looked.output = w_o_(join_heads(looked.output));
  return looked;
}

}  // namespace attn::nn
