#include "attn/nn/score/additive.hpp"

#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

AdditiveScore::AdditiveScore(const AdditiveScoreOptions& options)
    : w_q_(add(
          "W_q",
          Linear({.in = options.query_dim, .out = options.hidden_dim, .bias = Bias::none}))),
      w_k_(add("W_k",
               Linear({.in = options.key_dim, .out = options.hidden_dim, .bias = Bias::none}))),
      w_v_(add("w_v", Linear({.in = options.hidden_dim, .out = 1, .bias = Bias::none}))) {}

Attended AdditiveScore::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                const Keep& keep, const Want& want) const {
  return pool(q, k, v, keep, spec::softmax(), want);
}

Attended AdditiveScore::pool(const Tensor& q, const Tensor& k, const Tensor& v,
                             const Keep& keep, const spec::Normaliser& normaliser,
                             const Want& want) const {
  const Tensor weight = w_v_.weight().squeeze(0);
  return attend(w_q_(q), w_k_(k), v, spec::additive(weight), keep, normaliser, want);
}

}  // namespace attn::nn
