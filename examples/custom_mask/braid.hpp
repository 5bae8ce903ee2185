/// A mask of our own: near neighbours, and every key of the same strand.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

/// Keeps |k - q| <= near, or k and q in the same strand of `strands`; never the future.
struct Braid {
  int near = 8;
  int strands = 64;

  template <class V>
  ATTN_FN auto keep(attn::Site<V> at) const {
    const auto behind = at.q - at.k;            // one number, or a vector of them
    const auto apart = behind & (strands - 1);  // strands is a power of two
    return (behind >= 0) & ((behind <= near) | (apart == 0));
  }

  /// The future is skipped whole; inside the past every block has something to see.
  ATTN_FN attn::Cover cover(const attn::Block& block) const {
    if (block.k.begin >= block.q.end) return attn::Cover::none;
    return attn::Cover::some;
  }
};

static_assert(attn::MaskFunctor<Braid>);
