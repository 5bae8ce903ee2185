/// Smoothing: sigmoids over their sum, which lets several keys share the attention.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::normalise {

/// w = sigmoid(s) / sum sigmoid(s); stat is 1 / sum, 0 for a row without keys. A row whose
/// sigmoids all underflow (scores below -87) counts as one without keys.
/// Chorowski et al., 2015, arXiv:1506.07503.
struct SummedSigmoid {
  static constexpr bool kRunsMax = false;
  static constexpr Coupling kCoupling = Coupling::output;

  template <class V>
  ATTN_FN V weight(V s, V) const {
    return select(s == V(-kInfinity), V(0.0f), sigmoid(s));
  }

  template <class V>
  ATTN_FN V mass(V weight) const {
    return weight;
  }

  template <class V, class P>
  ATTN_FN Row<V> finish(V, V mass, const P&) const {
    // The inverse of the smallest subnormals is inf; such a sum counts as 0.
    const V scale = select(mass > V(1e-38f), 1.0f / mass, V(0.0f));
    return {scale, scale};
  }

  template <class V>
  ATTN_FN V final_weight(V s, V stat, Site<V>) const {
    return select(s == V(-kInfinity), V(0.0f), sigmoid(s) * stat);
  }

  template <class V>
  ATTN_FN V final_slope(V s, V w, V, Site<V>) const {
    return select(s == V(-kInfinity), V(0.0f), w * (1.0f - sigmoid(s)));
  }
};

static_assert(Normaliser<SummedSigmoid> && StreamingNormaliser<SummedSigmoid>);

}  // namespace attn::normalise
