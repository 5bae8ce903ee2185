/// Dilated mask: a query sees every step-th key, counted from itself.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/mask/kept.hpp"
#include "attn/mask/sliding_window.hpp"

namespace attn::mask {

/// Keeps k where q + offset - k is a multiple of step and at most `reach` away; a negative
/// reach has no bound. Child et al., 2019, arXiv:1904.10509 (strided), and Beltagy et al.,
/// 2020, arXiv:2004.05150 (dilated window).
struct Dilated {
  int step = 1;  ///< at least 1
  int reach = -1;
  int offset = 0;

  template <class V>
  ATTN_FN Kept<V> keep(Site<V> at) const {
    // k and q + offset leave the same rest; C++ rounds towards zero, the mask must not.
    const int rest = (at.q + offset) % step;
    const int wanted = rest < 0 ? rest + step : rest;
    return window().keep(at) & (remainder(at.k, step) == wanted);
  }

  /// Exact for the window; gaps inside a block are not searched for.
  ATTN_FN Cover cover(const Block& block) const {
    const Cover near = window().cover(block);
    return step > 1 && near == Cover::all ? Cover::some : near;
  }

 private:
  ATTN_FN SlidingWindow window() const { return {reach, reach, offset}; }
};

static_assert(MaskFunctor<Dilated>);

}  // namespace attn::mask
