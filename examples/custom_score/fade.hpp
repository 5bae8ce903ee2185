/// A score of our own: far keys fade, and how fast is learnt.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

/// s' = s - rate * log(1 + |k - q|). There is no backward: dual numbers differentiate it.
struct Fade {
  static constexpr int kTables = 1;

  template <class V, class P>
  ATTN_FN V forward(V s, attn::Site<V> at, const P& p) const {
    using attn::abs, attn::log, attn::real;
    const V distance = abs(real<V>(at.k - at.q));
    return s - p.value(0) * log(1.0f + distance);
  }
};

static_assert(attn::ScoreFunctor<Fade>);
