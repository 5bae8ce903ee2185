/// Sparsemax: the nearest point of the simplex, with exact zeros.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::normalise {

/// w = max(s - tau, 0), tau such that the weights sum to 1; stat is tau, +inf for a row without
/// keys. Martins and Astudillo, 2016, arXiv:1602.02068.
struct Sparsemax {
  static constexpr bool kRunsMax = false;
  static constexpr Coupling kCoupling = Coupling::support;

  /// Michelot's iteration: the mean of the scores above tau gives the next tau, which only
  /// rises; no sorting and no memory. Scores are taken from the largest down, for digits.
  template <class V>
  ATTN_FN V solve(const V* s, int count, Site<V>) const {
    V largest = V(-kInfinity);
    for (int i = 0; i < count; ++i) largest = max(largest, s[i]);
    if (!(largest > V(-kInfinity))) return V(kInfinity);
    V tau = V(-1.0f);
    int above = count + 1;
    while (true) {
      V sum = V(0.0f);
      int support = 0;
      for (int i = 0; i < count; ++i) {
        if (s[i] - largest > tau) {
          sum = sum + (s[i] - largest);
          ++support;
        }
      }
      if (support == 0 || support >= above) return largest + tau;
      above = support;
      tau = (sum - V(1.0f)) / static_cast<V>(support);
    }
  }

  template <class V>
  ATTN_FN V final_weight(V s, V stat, Site<V>) const {
    return select(s > stat, s - stat, V(0.0f));
  }

  template <class V>
  ATTN_FN V final_slope(V s, V, V stat, Site<V>) const {
    return select(s > stat, V(1.0f), V(0.0f));
  }
};

static_assert(Normaliser<Sparsemax> && WholeRowNormaliser<Sparsemax>);

}  // namespace attn::normalise
