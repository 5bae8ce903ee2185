/// Softmax: weights are the exponentials of the scores over their sum.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::normalise {

/// w = exp(s) / sum exp(s), computed along the keys with a running maximum as reference; stat
/// is the log-sum-exp. Milakov and Gimelshein, 2018, arXiv:1805.02867.
struct Softmax {
  static constexpr bool kRunsMax = true;
  static constexpr Coupling kCoupling = Coupling::output;
  static constexpr bool kSumsToOne = true;

  template <class V>
  ATTN_FN V weight(V s, V reference) const {
    return exp_below(s, reference);
  }

  /// What everything pooled before is multiplied by when the maximum rises.
  template <class V>
  ATTN_FN V rescale(V old_reference, V new_reference) const {
    return select(old_reference > V(-kInfinity), exp(old_reference - new_reference), V(0.0f));
  }

  template <class V>
  ATTN_FN V mass(V weight) const {
    return weight;
  }

  /// Zero and -inf for a row without keys.
  template <class V, class P>
  ATTN_FN Row<V> finish(V reference, V mass, const P&) const {
    const auto kept = mass > V(0.0f);
    return {select(kept, 1.0f / mass, V(0.0f)),
            select(kept, reference + log(mass), V(-kInfinity))};
  }

  template <class V>
  ATTN_FN V final_weight(V s, V stat, Site<V>) const {
    return weight(s, stat);
  }

  template <class V>
  ATTN_FN V final_slope(V, V w, V, Site<V>) const {
    return w;
  }
};

static_assert(Normaliser<Softmax> && StreamingNormaliser<Softmax>);

}  // namespace attn::normalise
