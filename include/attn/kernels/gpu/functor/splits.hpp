/// How many blocks share the keys, or the queries, of one.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::gpu {

/// Into how many parts to cut `units` blocks of `steps` steps each, `positions` running at
/// once: the fewest rounds of work, a part more being worth 2 %.
inline int choose_splits(std::int64_t units, std::int64_t steps, std::int64_t positions) {
  int best = 1;
  double least = 0.0;
  for (std::int64_t splits = 1;
       splits <= std::min(steps, std::max<std::int64_t>(positions, 64)); ++splits) {
    const auto rounds = static_cast<double>((units * splits + positions - 1) / positions);
    const auto share = static_cast<double>((steps + splits - 1) / splits);
    const double cost = rounds * share * (1.0 + 0.02 * static_cast<double>(splits));
    if (splits == 1 || cost < least) {
      best = static_cast<int>(splits);
      least = cost;
    }
  }
  return best;
}

}  // namespace attn::gpu
