/// Scale: a score times a constant, or times a learnt number.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::score {

/// s' = factor * s; 1 / sqrt(d) makes the dot product of Vaswani et al., 2017,
/// arXiv:1706.03762.
struct Scale {
  float factor = 1.0f;

  template <class V>
  ATTN_FN V forward(V s, Site<V>) const {
    return factor * s;
  }

  template <class V>
  ATTN_FN V backward(V grad, V, Site<V>) const {
    return factor * grad;
  }
};

static_assert(ScoreFunctor<Scale>);

/// s' = t * s with t = entry 0 of table 0: one temperature for all, or one a head or a query.
struct LearnedScale {
  static constexpr int kTables = 1;

  template <class V, class P>
  ATTN_FN V forward(V s, Site<V>, const P& p) const {
    return p.value(0) * s;
  }

  template <class V, class P, class G>
  ATTN_FN V backward(V grad, V s, Site<V>, const P& p, const G& g) const {
    // A masked score brings grad 0, and 0 * -inf would be NaN.
    g.value(0, select(s > V(-kInfinity), grad * s, V(0.0f)));
    return p.value(0) * grad;
  }
};

static_assert(ScoreFunctor<LearnedScale>);

}  // namespace attn::score
