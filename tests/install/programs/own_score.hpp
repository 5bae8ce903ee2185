// A score outside namespace attn, with one learnt number: far keys fade.

#pragma once

#include "attn/core/concepts.hpp"

namespace mine {

/// s' = s - rate * log(1 + |k - q|), rate being table 0.
struct Fade {
  template <class V, class P>
  ATTN_FN V forward(V s, attn::Site<V> at, const P& p) const {
    using attn::abs, attn::log, attn::real;
    return s - p.value(0) * log(1.0f + abs(real<V>(at.k - at.q)));
  }
};

static_assert(attn::ScoreFunctor<Fade>);

}  // namespace mine
