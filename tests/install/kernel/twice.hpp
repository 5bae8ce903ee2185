// A score functor of a user's.

#pragma once

#include "attn/core/concepts.hpp"

namespace app {

/// s' = 2 s.
struct Twice {
  template <class V>
  ATTN_FN V forward(V s, attn::Site<V>) const {
    return s + s;
  }
};

static_assert(attn::ScoreFunctor<Twice>);

}  // namespace app
