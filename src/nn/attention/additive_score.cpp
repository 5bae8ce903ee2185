#include "attn/nn/attention/additive_score.hpp"

#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "nn/attention/weight_dropout.hpp"

namespace attn::nn {

AdditiveScore::AdditiveScore(const AdditiveScoreOptions& options)
    : dropout_(options.dropout),
      w_q_(add("W_q", without_bias(options.query_dim, options.hidden_dim))),
      w_k_(add("W_k", without_bias(options.key_dim, options.hidden_dim))),
      w_v_(add("w_v", without_bias(options.hidden_dim, 1))) {}

Attended AdditiveScore::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                const Mask& keep, const Want& want) const {
  return attend(w_q_(q), keys(k), v, spec::additive(score_weight()), keep,
                softmax_with_dropout(*this, dropout_), want);
}

Attended additive_pooling(const Tensor& hidden, const Tensor& w, const Tensor& items,
                          const Mask& keep) {
  const Tensor nobody =
      Tensor::zeros({hidden.size(0), 1, hidden.size(2)}, hidden.dtype(), hidden.device());
  return attend(nobody, hidden, items, spec::additive(w), keep, spec::softmax(),
                Want::output | Want::weights);
}

}  // namespace attn::nn
