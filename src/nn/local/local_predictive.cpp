#include "attn/nn/local/local_predictive.hpp"

#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/local/local_options.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/local/score.hpp"
#include "nn/padding.hpp"

namespace attn::nn {

LocalPredictiveAttention::LocalPredictiveAttention(const LocalPredictiveOptions& options)
    : options_(options),
      w_p_(add(
          "W_p",
          Linear({.in = options.query_dim, .out = options.hidden_dim, .bias = Bias::none}))),
      v_p_(add("v_p", fan_in_uniform({options.hidden_dim}, options.hidden_dim))),
      w_a_(add("W_a.weight",
               local::initial_score(options.score, "attn::nn::LocalPredictiveAttention"))) {
  if (options.reach < 0)
    fail("attn::nn::LocalPredictiveAttention: reach ", options.reach,
         "; 0 and more are accepted");
}

LocalPredicted LocalPredictiveAttention::forward(const Tensor& q, const Tensor& k,
                                                 const Tensor& v, const Tensor& lengths,
                                                 const Want& want) const {
  const Tensor length =
      padding::or_full(lengths, k.size(0), k.size(1)).to(q.dtype()).to(q.device()).unsqueeze(1);
  const Tensor place = linear(tanh(w_p_(q)), v_p_.unsqueeze(0)).squeeze(-1);
  const Tensor centre = length * sigmoid(place);

  const auto reach = static_cast<double>(options_.reach);
  const Keep keep = spec::around(centre, reach) && padding::keys(lengths);
  auto normaliser = spec::softmax();
  // A window of one place has nothing to fade.
  if (options_.fade == Fade::gaussian && options_.reach > 0)
    normaliser = normaliser | spec::local_gaussian(centre, reach / 2);
  return {centre,
          attend(local::scored_query(q, w_a_), k, v, spec::dot(), keep, normaliser, want)};
}

}  // namespace attn::nn
