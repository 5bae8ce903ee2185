/// A lambda as a score modifier: score::lambda([](auto s, auto at) { ... }).

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::score {

/// s' = f(s, at) or f(s, at, p), in any file and without attn_kernel_sources(); f reads
/// kTableCount tables and is differentiated by dual numbers. f must be generic (`auto s`) and
/// may capture trivially copyable things alone.
template <class F, int kTableCount = 0>
struct Lambda {
  static constexpr int kTables = kTableCount;
  static constexpr bool kOneFile = true;

  F f;

  template <class V>
    requires(kTableCount == 0)
  ATTN_FN V forward(V s, Site<V> at) const {
    return f(s, at);
  }

  template <class V, class P>
    requires(kTableCount > 0)
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    return f(s, at, p);
  }
};

/// Without tables: lambda([](auto s, auto at) { return s - at.head; }). With them:
/// lambda<1>([](auto s, auto at, const auto& p) { return s * p.value(0); }).
template <int kTableCount = 0, class F>
constexpr auto lambda(F f) {
  static_assert(PlainFunctor<F>, "a lambda may capture trivially copyable things alone");
  static_assert(
      ScoreFunctor<Lambda<F, kTableCount>>,
      "a lambda takes (auto s, auto at), or with tables (auto s, auto at, const auto& "
      "p), and returns what s is");
  return Lambda<F, kTableCount>{f};
}

}  // namespace attn::score
