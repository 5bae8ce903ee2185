/// Where to look next: a Gaussian around a predicted place, trained by its reward. Mnih, Heess,
/// Graves and Kavukcuoglu, 2014, arXiv:1406.6247.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>

#include "attn/nn/linear.hpp"
#include "attn/tensor/random.hpp"

namespace attn::nn {

/// Whether the policy's losses change the state it reads; the usual practice is `off`.
enum class StateGradient { off, on };

struct GlimpsePolicyOptions {
  std::int64_t hidden_dim;
  double sigma = 0.2;
  StateGradient state_gradient = StateGradient::off;
};

struct GlimpsePolicyResult {
  Tensor mean;            ///< [batch, steps, 2]
  Tensor log_prob;        ///< [batch, steps]: log N(sample; mean, sigma^2), both coordinates
  Tensor baseline;        ///< [batch, steps]
  Tensor reinforce_loss;  ///< [1]
  Tensor baseline_loss;   ///< [1]
};

/// mean = tanh(location h + b), b_t = baseline h + b,
/// reinforce_loss = -mean_b sum_t log_prob stop(R - b_t),
/// baseline_loss = mean_b sum_t (R - b_t)^2, R being R_t where each step has its own.
class GlimpsePolicy : public Module {
 public:
  explicit GlimpsePolicy(const GlimpsePolicyOptions& options);

  /// [..., hidden_dim] -> [..., 2]: the place looked at when nothing is drawn.
  Tensor mean(const Tensor& hidden) const;
  /// A place around the mean; without gradient. A sigma that is told stands in the place of the
  /// options', here and in forward().
  Tensor draw(const Tensor& hidden, Random& random, std::optional<double> sigma = {}) const;

  /// hidden [batch, steps, hidden_dim], sample [batch, steps, 2] as drawn, reward [batch], or
  /// [batch, steps] where a step is told from the others by what came after it.
  GlimpsePolicyResult forward(const Tensor& hidden, const Tensor& sample, const Tensor& reward,
                              std::optional<double> sigma = {}) const;

 private:
  Tensor seen(const Tensor& hidden) const;
  double checked(std::optional<double> sigma) const;

  GlimpsePolicyOptions options_;
  Linear location_;  ///< [2, hidden_dim] with bias
  Linear baseline_;  ///< [1, hidden_dim] with bias
};

}  // namespace attn::nn
