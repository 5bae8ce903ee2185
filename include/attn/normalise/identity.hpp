/// No normalisation: the scores are the weights, which is where linear attention starts.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::normalise {

/// w = s.
struct Identity {
  static constexpr bool kRunsMax = false;
  static constexpr Coupling kCoupling = Coupling::none;

  template <class V>
  ATTN_FN V weight(V s, V) const {
    return select(s == V(-kInfinity), V(0.0f), s);
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
  ATTN_FN V final_slope(V s, V, V, Site<V>) const {
    return select(s == V(-kInfinity), V(0.0f), V(1.0f));
  }
};

static_assert(Normaliser<Identity> && StreamingNormaliser<Identity>);

}  // namespace attn::normalise
