/// Prefix mask: everybody sees the first keys, the rest is causal.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/mask/kept.hpp"

namespace attn::mask {

/// Keeps k < length or k <= q + offset; with `lengths`, length = lengths[batch * batch_stride].
/// Raffel et al., 2020, arXiv:1910.10683 (prefix language model).
struct Prefix {
  static constexpr bool kCoversCheaply = true;
  int length = 0;
  int offset = 0;
  const int* lengths = nullptr;  ///< one for each sequence; without it `length` serves all
  long batch_stride = 1;

  template <class V>
  ATTN_FN Kept<V> keep(Site<V> at) const {
    return at.k < visible(at.batch, at.q);
  }

  ATTN_FN Cover cover(const Block& block) const {
    if (block.k.begin >= visible(block.batch, block.q.end - 1)) return Cover::none;
    if (block.k.end <= visible(block.batch, block.q.begin)) return Cover::all;
    return Cover::some;
  }

 private:
  /// How many keys query q sees, counted from the first.
  ATTN_FN int visible(int batch, int q) const {
    const int prefix = lengths != nullptr ? lengths[batch * batch_stride] : length;
    return max(prefix, q + offset + 1);
  }
};

static_assert(MaskFunctor<Prefix>);

}  // namespace attn::mask
