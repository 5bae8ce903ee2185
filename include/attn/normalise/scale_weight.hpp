/// A gate on the weights: a learnt number multiplies them after normalisation.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::normalise {

/// w' = beta w, beta = entry 0 of table 0: one for all, or one a head or a query, such as the
/// gate of Xu et al., 2015, arXiv:1502.03044.
struct ScaleWeight {
  static constexpr int kTables = 1;

  template <class V, class P>
  ATTN_FN V factor(Site<V>, const P& p) const {
    return p.value(0);
  }
};

static_assert(WeightFactor<ScaleWeight>);

}  // namespace attn::normalise
