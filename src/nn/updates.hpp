/// What one step of an optimiser does to a number, for scalars, SIMD lanes and GPU threads, and
/// the kernels of one instruction set.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"

namespace attn::nn {

// Lanes have their own. The GPU's threads round as lanes do; doubles are for checks.
ATTN_FN float multiply_add(float a, float b, float c) {
  return std::fma(a, b, c);
}
ATTN_FN double multiply_add(double a, double b, double c) {
  return a * b + c;
}

/// A number and what Adam remembers of its gradients.
template <class V>
struct AdamNumbers {
  V parameter;
  V mean;
  V square;
};

/// One step of Adam; decays and corrections are worked in.
struct AdamStep {
  float beta1;
  float beta2;
  float eps;           ///< keeps the width above 0
  float weight_decay;  ///< added to the gradient
  float keep;          ///< 1 - rate * decoupled decay
  float rate;          ///< over the mean's correction
  float square_scale;  ///< 1 / sqrt of the square's correction

  template <class V>
  ATTN_FN AdamNumbers<V> update(V grad, const AdamNumbers<V>& old) const {
    const V g = multiply_add(old.parameter, V(weight_decay), grad);
    const V m = multiply_add(old.mean, V(beta1), g * (V(1) - V(beta1)));
    const V s = multiply_add(old.square, V(beta2), g * g * (V(1) - V(beta2)));
    const V width = multiply_add(sqrt(s), V(square_scale), V(eps));
    return {old.parameter * V(keep) - m * V(rate) / width, m, s};
  }
};

/// A number and its velocity.
template <class V>
struct SgdNumbers {
  V parameter;
  V velocity;
};

/// v = momentum v + g + decay p; p = p - rate v.
struct SgdStep {
  double momentum;
  double weight_decay;
  double rate;

  template <class V>
  ATTN_FN SgdNumbers<V> update(V grad, const SgdNumbers<V>& old) const {
    const V change = grad + old.parameter * V(weight_decay);
    const V v = old.velocity * V(momentum) + change;
    return {old.parameter - v * V(rate), v};
  }
};

}  // namespace attn::nn

namespace attn::cpu {

struct OptimiserTable {
  /// One step for a run of numbers.
  void (*adam)(std::int64_t count, const nn::AdamStep& step, const float* grad,
               float* parameter, float* mean, float* square);
};

}  // namespace attn::cpu
