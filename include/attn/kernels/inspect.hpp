/// Inspection: weights and scores on demand, and only as much as is asked for.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>

#include "attn/core/view.hpp"

namespace attn {

/// Everything here is optional: a view without data is not filled. Nothing larger than what is
/// asked for is stored; the rows pass by one tile at a time. S is float, double for the
/// reference and for doubles on the GPU.
template <class S>
struct Inspection {
  View<S, 4> all{};  ///< [batch, heads, queries, keys]

  /// Chosen heads and queries: [batch, chosen heads, chosen queries, keys].
  std::span<const int> chosen_heads{};
  std::span<const int> chosen_queries{};
  View<S, 4> chosen{};

  /// The largest weights of each query, largest first, the earlier key among equals; -1 and 0
  /// where there are fewer keys with a weight: [batch, heads, queries, k].
  View<std::int64_t, 4> top_keys{};
  View<S, 4> top_weights{};

  View<S, 3> column_sums{};  ///< [batch, heads, keys]: the sum of weights of each key

  /// Weights summed by relative position clip(key - (query + offset), -m, m) + m, where the
  /// last axis has 2 m + 1 entries: [batch, heads, queries, 2 m + 1].
  View<S, 4> distance_sums{};
  int distance_offset = 0;

  View<std::int64_t, 3> arg_max{};  ///< [batch, heads, queries], -1 if no weight is above 0
};

}  // namespace attn
