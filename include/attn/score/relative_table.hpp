/// Relative positions: a score gets the table entry of the distance between query and key.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::score {

/// s' = s + table[c], c = clip(k - (q + offset), -reach, reach) + reach. The shape of table 0
/// says whom an entry serves: [1, 1, 1, 2 reach + 1] all, [1, heads, ...] each head, and with
/// q . a_c as entries, [batch, heads, queries, ...], the relative keys of Shaw, Uszkoreit and
/// Vaswani, 2018, arXiv:1803.02155, and of Huang et al., 2018, arXiv:1809.04281.
struct RelativeTable {
  static constexpr int kTables = 1;

  int reach = 0;
  int offset = 0;

  template <class V, class P>
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    return s + p.at(0, entry<V>(at));
  }

  template <class V, class P, class G>
  ATTN_FN V backward(V grad, V, Site<V> at, const P&, const G& g) const {
    g.at(0, entry<V>(at), grad);
    return grad;
  }

 private:
  template <class V>
  ATTN_FN Index<V> entry(const Site<V>& at) const {
    const Index<V> distance = at.k - (at.q + offset);
    return min(max(distance, Index<V>(-reach)), Index<V>(reach)) + reach;
  }
};

static_assert(ScoreFunctor<RelativeTable>);

}  // namespace attn::score
