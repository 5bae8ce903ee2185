/// Functors as a user would write them; isa/functors.cpp compiles their kernels.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::test {

/// s' = s - rate * log(1 + |k - q|), differentiated by dual numbers.
struct Fade {
  template <class V, class P>
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    using attn::abs, attn::log, attn::real;
    return s - p.value(0) * log(1.0f + abs(real<V>(at.k - at.q)));
  }
};
static_assert(ScoreFunctor<Fade>);

/// Keeps every pair whose distance is a multiple of two.
struct Even {
  int offset = 0;

  template <class V>
  ATTN_FN auto keep(Site<V> at) const {
    return ((at.k - (at.q + offset)) & 1) == 0;
  }
  ATTN_FN Cover cover(const Block&) const { return Cover::some; }
};
static_assert(MaskFunctor<Even>);

/// w' = gate * w^2.
struct GatedSquare {
  template <class V, class P>
  ATTN_FN V forward(V w, Site<V>, const P& p) const {
    return p.value(0) * w * w;
  }
};
static_assert(WeightFunctor<GatedSquare>);

}  // namespace attn::test
