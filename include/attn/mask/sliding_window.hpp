/// Sliding window: a query sees the keys around it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <climits>

#include "attn/core/concepts.hpp"
#include "attn/mask/kept.hpp"

namespace attn::mask {

/// Keeps q + offset - left <= k <= q + offset + right; a negative extent has no bound. Windows
/// are clipped at the ends, not shifted: local-m of Luong, Pham and Manning, 2015,
/// arXiv:1508.04025, and the local attention of Beltagy et al., 2020, arXiv:2004.05150.
struct SlidingWindow {
  static constexpr bool kCoversCheaply = true;
  int left = -1;
  int right = -1;
  int offset = 0;

  template <class V>
  ATTN_FN Kept<V> keep(Site<V> at) const {
    return (at.k >= low(at.q)) & (at.k <= high(at.q));
  }

  ATTN_FN Cover cover(const Block& block) const {
    const int last = block.q.end - 1;
    // Both bounds move by one a query, so the block's windows together have no gap.
    if (block.k.end <= low(block.q.begin) || block.k.begin > high(last)) return Cover::none;
    if (block.k.begin >= low(last) && block.k.end - 1 <= high(block.q.begin)) return Cover::all;
    return Cover::some;
  }

 private:
  ATTN_FN int low(int q) const { return left < 0 ? INT_MIN : q + offset - left; }
  ATTN_FN int high(int q) const { return right < 0 ? INT_MAX : q + offset + right; }
};

static_assert(MaskFunctor<SlidingWindow>);

}  // namespace attn::mask
