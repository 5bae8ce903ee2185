/// Mean: scores over the number of kept keys, as in the non-local block.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::normalise {

/// w = s / n, n the number of keys the row keeps; stat is 1 / n, 0 for a row without keys.
/// Wang, Girshick, Gupta and He, 2018, arXiv:1711.07971 (dot product, concatenation).
struct Mean {
  static constexpr bool kRunsMax = false;
  static constexpr Coupling kCoupling = Coupling::none;

  template <class V>
  ATTN_FN V weight(V s, V) const {
    return select(s == V(-kInfinity), V(0.0f), s);
  }

  /// One for each kept key, whatever it weighs; masked keys are not asked about.
  template <class V>
  ATTN_FN V mass(V) const {
    return V(1.0f);
  }

  template <class V, class P>
  ATTN_FN Row<V> finish(V, V mass, const P&) const {
    const V scale = select(mass > V(0.0f), 1.0f / mass, V(0.0f));
    return {scale, scale};
  }

  template <class V>
  ATTN_FN V final_weight(V s, V stat, Site<V>) const {
    return select(s == V(-kInfinity), V(0.0f), s * stat);
  }

  template <class V>
  ATTN_FN V final_slope(V s, V, V stat, Site<V>) const {
    return select(s == V(-kInfinity), V(0.0f), stat);
  }
};

static_assert(Normaliser<Mean> && StreamingNormaliser<Mean>);

}  // namespace attn::normalise
