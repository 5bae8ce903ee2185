/// Soft cap: squashes a score into (-cap, cap) and keeps its gradient alive.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::score {

/// s' = cap * tanh(s / cap). Gemma 2, 2024, arXiv:2408.00118.
struct SoftCap {
  float cap = 1.0f;

  template <class V>
  ATTN_FN V forward(V s, Site<V>) const {
    return cap * tanh(s / cap);
  }

  /// The gradient with respect to s, given s and the gradient of s'.
  template <class V>
  ATTN_FN V backward(V grad, V s, Site<V>) const {
    const V t = tanh(s / cap);
    return grad * (1.0f - t * t);
  }
};

static_assert(ScoreFunctor<SoftCap>);

}  // namespace attn::score
