/// A dense bias: a number for each pair is added to its score.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::score {

/// s' = s + table[k], table 0 being [1 or batch, 1 or heads, 1 or queries, keys]. An entry of
/// -inf masks its pair.
struct Bias {
  static constexpr int kTables = 1;

  template <class V, class P>
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    return s + p.along(0, at);
  }

  template <class V, class P, class G>
  ATTN_FN V backward(V grad, V, Site<V> at, const P&, const G& g) const {
    g.along(0, at, grad);
    return grad;
  }
};

static_assert(ScoreFunctor<Bias>);

}  // namespace attn::score
