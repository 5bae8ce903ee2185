/// Hard attention: one key is chosen, the best or a sample.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/concepts.hpp"
#include "attn/core/philox.hpp"

namespace attn::normalise {

/// 1 where the key is the chosen one, whose position is `stat`.
template <class V>
ATTN_FN V chosen_weight(V s, V stat, const Site<V>& at) {
  const V k = real<V>(at.k);
  const auto here = (k >= stat) & (k <= stat) & (s > V(-kInfinity));
  return select(here, V(1.0f), V(0.0f));
}

/// Weight 1 for the key of the largest score, the first among equals; no gradient reaches the
/// scores. stat is the key's position as a number, -1 for a row without keys.
struct HardMax {
  static constexpr bool kRunsMax = false;
  static constexpr Coupling kCoupling = Coupling::none;

  template <class V>
  ATTN_FN V solve(const V* s, int count, Site<V> at) const {
    V best = V(-kInfinity);
    V chosen = V(-1.0f);
    for (int i = 0; i < count; ++i) {
      if (s[i] > best) {
        best = s[i];
        chosen = real<V>(at.k + i);
      }
    }
    return chosen;
  }

  template <class V>
  ATTN_FN V final_weight(V s, V stat, Site<V> at) const {
    return chosen_weight(s, stat, at);
  }

  template <class V>
  ATTN_FN V final_slope(V, V, V, Site<V>) const {
    return V(0.0f);
  }
};

static_assert(Normaliser<HardMax> && WholeRowNormaliser<HardMax>);

/// Weight 1 for a key drawn with the probabilities of softmax(s): the largest s - log(-log(u)),
/// u being the uniform number of the position, so that the same seed draws the same key in
/// every pass. Xu et al., 2015, arXiv:1502.03044; Gumbel, 1954.
struct HardSample {
  static constexpr bool kRunsMax = false;
  static constexpr Coupling kCoupling = Coupling::none;

  std::uint64_t seed = 0;

  template <class V>
  ATTN_FN V solve(const V* s, int count, Site<V> at) const {
    V best = V(-kInfinity);
    V chosen = V(-1.0f);
    for (int i = 0; i < count; ++i) {
      if (!(s[i] > V(-kInfinity))) continue;
      const V u = random_uniform<V>(seed, {at.batch, at.head, at.q, at.k + i});
      const V noisy = s[i] - log(-log(u));
      if (noisy > best) {
        best = noisy;
        chosen = real<V>(at.k + i);
      }
    }
    return chosen;
  }

  template <class V>
  ATTN_FN V final_weight(V s, V stat, Site<V> at) const {
    return chosen_weight(s, stat, at);
  }

  template <class V>
  ATTN_FN V final_slope(V, V, V, Site<V>) const {
    return V(0.0f);
  }
};

static_assert(Normaliser<HardSample> && WholeRowNormaliser<HardSample>);

}  // namespace attn::normalise
