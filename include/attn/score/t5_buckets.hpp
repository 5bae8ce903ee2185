/// T5's buckets of distances, as numbers that score::T5Bias looks up.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "attn/core/error.hpp"

namespace attn::score {

/// Whether the keys after a query have buckets of their own, or share the one of distance 0.
enum class T5Direction { both, past };

/// The bucket of r = k - q. `both` halves the buckets, the upper half being for r > 0, and uses
/// |r|; `past` uses max(0, -r). With n buckets and e = n / 2: r < e has bucket r, else
/// min(n - 1, e + floor(log(r / e) / log(max_distance / e) * (n - e))), in double.
/// Raffel et al., 2020, arXiv:1910.10683.
inline int t5_bucket(int r, int buckets, int max_distance, T5Direction direction) {
  const int n = direction == T5Direction::both ? buckets / 2 : buckets;
  const int exact = n / 2;
  if (exact < 1 || max_distance <= exact)
    fail("attn::score::t5_bucket: ", buckets, " buckets and max_distance ", max_distance,
         "; at least ", direction == T5Direction::both ? 4 : 2,
         " buckets and a max_distance past the exact ones are accepted");
  const int base = direction == T5Direction::both && r > 0 ? n : 0;
  const int distance = direction == T5Direction::both ? (r < 0 ? -r : r) : std::max(0, -r);
  if (distance < exact) return base + distance;
  const double steps = std::log(static_cast<double>(distance) / exact) /
                       std::log(static_cast<double>(max_distance) / exact) * (n - exact);
  return base + std::min(n - 1, exact + static_cast<int>(std::floor(steps)));
}

/// out[0, 2 max_distance + 1): the buckets of -max_distance .. max_distance, past which they
/// stay the same; T5Bias::reach is then max_distance.
inline void fill_t5_buckets(int* out, int buckets, int max_distance, T5Direction direction) {
  for (int r = -max_distance; r <= max_distance; ++r)
    out[r + max_distance] = t5_bucket(r, buckets, max_distance, direction);
}

}  // namespace attn::score
