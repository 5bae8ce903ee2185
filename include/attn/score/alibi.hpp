/// ALiBi: a score falls with the distance between query and key, at a slope of each head.
/// Press, Smith and Lewis, 2022, arXiv:2108.12409.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "attn/core/concepts.hpp"

namespace attn::score {

/// s' = s - m |q + offset - k|, m = entry 0 of table 0 [1, heads, 1, 1]. Behind a cache,
/// offset = keys - queries. fill_alibi_slopes() has the paper's slopes.
struct Alibi {
  static constexpr int kTables = 1;

  int offset = 0;

  template <class V, class P>
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    return s - p.value(0) * distance<V>(at);
  }

  template <class V, class P, class G>
  ATTN_FN V backward(V grad, V, Site<V> at, const P&, const G& g) const {
    g.value(0, -(grad * distance<V>(at)));
    return grad;
  }

 private:
  template <class V>
  ATTN_FN V distance(const Site<V>& at) const {
    return abs(real<V>(at.k - (at.q + offset)));
  }
};

static_assert(ScoreFunctor<Alibi>);

/// slopes[0, heads): with p the largest power of two <= heads, 2^(-8 n / p) for n = 1..p, then
/// every second slope of the list for 2p, from its first on.
template <class T>
void fill_alibi_slopes(T* slopes, int heads) {
  int power = 1;
  while (2 * power <= heads) power *= 2;
  for (int h = 0; h < heads; ++h) {
    const double exponent =
        h < power ? -8.0 * (h + 1) / power : -4.0 * (2 * (h - power) + 1) / power;
    slopes[h] = static_cast<T>(std::exp2(exponent));
  }
}

}  // namespace attn::score
