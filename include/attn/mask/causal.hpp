/// Causal mask: a query never sees a key that comes after it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/mask/kept.hpp"

namespace attn::mask {

/// Keeps k <= q + offset. There is no default: with more keys than queries, as behind a cache,
/// the two alignments differ and neither can be guessed.
struct Causal {
  static constexpr bool kCoversCheaply = true;
  int offset;

  constexpr explicit Causal(int keys_before_the_first_query)
      : offset(keys_before_the_first_query) {}

  /// The last query lines up with the last key: what a cache needs, and what spec::causal() is.
  static constexpr Causal bottom_right(int queries, int keys) { return Causal(keys - queries); }
  /// The first query sees the first key alone.
  static constexpr Causal top_left() { return Causal(0); }

  template <class V>
  ATTN_FN Kept<V> keep(Site<V> at) const {
    return at.k <= at.q + offset;
  }

  /// Lets a kernel drop a tile, or run it unmasked, without asking about each element.
  ATTN_FN Cover cover(const Block& block) const {
    if (block.k.begin >= block.q.end + offset) return Cover::none;
    if (block.k.end <= block.q.begin + offset + 1) return Cover::all;
    return Cover::some;
  }
};

static_assert(MaskFunctor<Causal>);

}  // namespace attn::mask
