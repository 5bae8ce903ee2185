/// T5's bias: a learnt number for each bucket of distances, near ones each their own, far ones
/// in logarithmic steps. Raffel et al., 2020, arXiv:1910.10683.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::score {

/// s' = s + table[bucket(k - (q + offset))], table 0 being [1, heads, 1, buckets]. Which bucket
/// a distance has is looked up: a logarithm rounded here could differ at exact powers.
struct T5Bias {
  static constexpr int kTables = 1;
  static constexpr bool kReadsMemory = true;

  const int* buckets = nullptr;  ///< [2 reach + 1]: of -reach .. reach, see t5_buckets.hpp
  int reach = 0;                 ///< distances past it count as it
  int offset = 0;

  template <class V, class P>
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    return s + p.at(0, bucket<V>(at));
  }

  template <class V, class P, class G>
  ATTN_FN V backward(V grad, V, Site<V> at, const P&, const G& g) const {
    g.at(0, bucket<V>(at), grad);
    return grad;
  }

  template <class V>
  ATTN_FN Index<V> bucket(const Site<V>& at) const {
    const Index<V> distance = at.k - (at.q + offset);
    const Index<V> entry = min(max(distance, Index<V>(-reach)), Index<V>(reach)) + reach;
    return load_int(buckets, 1, entry);
  }
};

static_assert(ScoreFunctor<T5Bias>);

}  // namespace attn::score
