/// A score of our own: keys at a learnt distance stand out.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

/// s' = s - height * (|k - q| - distance)^2, height and distance being tables 0 and 1. There is
/// no backward: dual numbers differentiate it.
struct Echo {
  static constexpr int kTables = 2;

  template <class V, class P>
  ATTN_FN V forward(V s, attn::Site<V> at, const P& p) const {
    using attn::abs, attn::real;
    const V z = abs(real<V>(at.k - at.q)) - p.value(1);
    return s - p.value(0) * (z * z);
  }
};

static_assert(attn::ScoreFunctor<Echo>);
