/// No mask: every pair exists.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/mask/kept.hpp"

namespace attn::mask {

/// Keeps everything.
struct None {
  static constexpr bool kCoversCheaply = true;
  template <class V>
  ATTN_FN Kept<V> keep(Site<V>) const {
    return true;
  }

  ATTN_FN Cover cover(const Block&) const { return Cover::all; }
};

static_assert(MaskFunctor<None>);

}  // namespace attn::mask
