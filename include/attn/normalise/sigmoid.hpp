/// Sigmoid: each weight stands alone, between 0 and 1.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::normalise {

/// w = 1 / (1 + exp(-s)). A bias of -log(keys) on the score keeps the sum near 1.
/// Ramapuram et al., 2024, arXiv:2409.04431.
struct Sigmoid {
  static constexpr bool kRunsMax = false;
  static constexpr Coupling kCoupling = Coupling::none;

  template <class V>
  ATTN_FN V weight(V s, V) const {
    return select(s == V(-kInfinity), V(0.0f), sigmoid(s));
  }

  template <class V>
  ATTN_FN V mass(V) const {
    return V(0.0f);
  }

  /// The sum is the result: a row without keys has pooled 0 already.
  template <class V, class P>
  ATTN_FN Row<V> finish(V, V, const P&) const {
    return {V(1.0f), V(0.0f)};
  }

  template <class V>
  ATTN_FN V final_weight(V s, V stat, Site<V>) const {
    return weight(s, stat);
  }

  template <class V>
  ATTN_FN V final_slope(V, V w, V, Site<V>) const {
    return w * (1.0f - w);
  }
};

static_assert(Normaliser<Sigmoid> && StreamingNormaliser<Sigmoid>);

}  // namespace attn::normalise
