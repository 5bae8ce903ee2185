// What a model of glimpses learns: a vector of what was seen, and where to look next.

#include <cmath>
#include <numbers>
#include <optional>

#include "attn/core/error.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/glimpse/glimpse_network.hpp"
#include "attn/nn/mechanisms/glimpse/glimpse_policy.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"

namespace attn::nn {

GlimpseNetwork::GlimpseNetwork(const GlimpseNetworkOptions& options)
    : glimpse_hidden_(add("glimpse_hidden",
                          Linear({.in = options.glimpse_dim, .out = options.glimpse_hidden}))),
      location_hidden_(
          add("location_hidden", Linear({.in = 2, .out = options.location_hidden}))),
      glimpse_out_(
          add("glimpse_out", Linear({.in = options.glimpse_hidden, .out = options.out_dim}))),
      location_out_(add("location_out",
                        Linear({.in = options.location_hidden, .out = options.out_dim}))) {}

Tensor GlimpseNetwork::forward(const Tensor& glimpse, const Tensor& location) const {
  const Tensor what = glimpse_out_(relu(glimpse_hidden_(glimpse)));
  const Tensor where = location_out_(relu(location_hidden_(location)));
  return relu(what + where);
}

GlimpsePolicy::GlimpsePolicy(const GlimpsePolicyOptions& options)
    : options_(options),
      location_(add("location", Linear({.in = options.hidden_dim, .out = 2}))),
      baseline_(add("baseline", Linear({.in = options.hidden_dim, .out = 1}))) {
  checked(options.sigma);
}

double GlimpsePolicy::checked(std::optional<double> sigma) const {
  const double spread = sigma.value_or(options_.sigma);
  if (!(spread > 0.0)) fail("attn::nn::GlimpsePolicy: sigma ", spread, "; above 0 is accepted");
  return spread;
}

Tensor GlimpsePolicy::seen(const Tensor& hidden) const {
  return options_.state_gradient == StateGradient::off ? hidden.detach() : hidden;
}

Tensor GlimpsePolicy::mean(const Tensor& hidden) const {
  return tanh(location_(seen(hidden)));
}

Tensor GlimpsePolicy::draw(const Tensor& hidden, Random& random,
                           std::optional<double> sigma) const {
  const NoGrad off_the_tape;
  const Tensor middle = mean(hidden);
  return middle +
         normal(middle.shape(), 0.0, checked(sigma), random, middle.dtype(), middle.device());
}

GlimpsePolicyResult GlimpsePolicy::forward(const Tensor& hidden, const Tensor& sample,
                                           const Tensor& reward,
                                           std::optional<double> sigma) const {
  if (hidden.rank() != 3 || sample.rank() != 3 || (reward.rank() != 1 && reward.rank() != 2))
    fail("attn::nn::GlimpsePolicy: hidden ", hidden.text(), ", sample ", sample.text(),
         " and reward ", reward.text(),
         "; [batch, steps, hidden_dim], [batch, steps, 2] and [batch] or [batch, steps] are "
         "accepted");
  const Tensor middle = mean(hidden);
  const double spread = checked(sigma);
  const double variance = spread * spread;
  // log(sigma sqrt(2 pi)) for each of the two coordinates.
  const double norm = std::log(2.0 * std::numbers::pi * variance);
  const Tensor log_prob =
      affine(sum(square(sample.detach() - middle), 2), -0.5 / variance, -norm);
  const Tensor baseline = baseline_(seen(hidden)).squeeze(-1);
  const Tensor rewards = reward.rank() == 1 ? reward.unsqueeze(1) : reward;
  const Tensor surplus = rewards.detach() - baseline;
  const Tensor reinforce = neg(attn::mean(sum(log_prob * surplus.detach(), 1)));
  const Tensor baseline_loss = attn::mean(sum(square(surplus), 1));
  return {middle, log_prob, baseline, reinforce.reshape({1}), baseline_loss.reshape({1})};
}

}  // namespace attn::nn
