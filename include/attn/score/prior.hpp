/// Prior: a user's own score for each pair, added to the score with a weight.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::score {

/// s' = s + weight * prior[k], table 0 being [1 or batch, 1 or heads, 1 or queries, keys].
struct Prior {
  static constexpr int kTables = 1;

  float weight = 1.0f;

  template <class V, class P>
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    return s + weight * p.along(0, at);
  }

  template <class V, class P, class G>
  ATTN_FN V backward(V grad, V, Site<V> at, const P&, const G& g) const {
    g.along(0, at, weight * grad);
    return grad;
  }
};

static_assert(ScoreFunctor<Prior>);

}  // namespace attn::score
