/// Local-p's Gaussian: multiplies weights after normalisation, and they are not renormalised.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::normalise {

/// w' = w exp(-(k - c)^2 / (2 sigma^2)), c = entry 0 of table 0 [batch, heads, queries, 1].
/// Luong, Pham and Manning, 2015, arXiv:1508.04025.
struct LocalGaussian {
  static constexpr int kTables = 1;

  float sigma = 1.0f;

  template <class V, class P>
  ATTN_FN V factor(Site<V> at, const P& p) const {
    const V z = (real<V>(at.k) - p.value(0)) / sigma;
    return exp(-0.5f * (z * z));
  }
};

static_assert(WeightFactor<LocalGaussian>);

}  // namespace attn::normalise
