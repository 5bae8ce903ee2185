/// Dropout of weights: each is set to 0 or scaled up, by a random number of its position.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/concepts.hpp"
#include "attn/core/philox.hpp"

namespace attn::normalise {

/// w' = 0 with probability `rate`, else w / (1 - rate). The numbers depend on (seed; batch,
/// head, q, k) alone, so forward, backward and every tiling drop the same weights.
struct Dropout {
  std::uint64_t seed = 0;
  float rate = 0.0f;

  template <class V>
  ATTN_FN V factor(Site<V> at) const {
    const V raised = V(rate < 1.0f ? 1.0f / (1.0f - rate) : 0.0f);
    return select(random_uniform<V>(seed, at) > V(rate), raised, V(0.0f));
  }
};

static_assert(WeightFactor<Dropout>);

}  // namespace attn::normalise
