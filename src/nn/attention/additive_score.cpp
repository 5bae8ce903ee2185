#include "attn/nn/attention/additive_score.hpp"

#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/attention/weight_dropout.hpp"

namespace attn::nn {

AdditiveScore::AdditiveScore(const AdditiveScoreOptions& options)
    : dropout_(options.dropout),
      w_q_(add(
          "W_q",
          Linear({.in = options.query_dim, .out = options.hidden_dim, .bias = Bias::none}))),
      w_k_(add("W_k",
               Linear({.in = options.key_dim, .out = options.hidden_dim, .bias = Bias::none}))),
      w_v_(add("w_v", Linear({.in = options.hidden_dim, .out = 1, .bias = Bias::none}))) {}

Attended AdditiveScore::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                const Keep& keep, const Want& want) const {
  return attend(w_q_(q), keys(k), v, spec::additive(score_weight()), keep,
                softmax_with_dropout(*this, dropout_), want);
}

}  // namespace attn::nn
