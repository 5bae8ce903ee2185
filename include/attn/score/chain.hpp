/// Chain: several score modifiers as one functor, composed at compile time.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/core/table.hpp"

namespace attn::score {

/// How many tables a functor reads: its kTables, or none.
template <class F>
inline constexpr int kTablesOf = [] {
  if constexpr (requires { F::kTables; }) {
    return F::kTables;
  } else {
    return 0;
  }
}();

/// Params or ParamGrads whose slots start further on.
template <class P>
struct ShiftedSlots {
  const P& base;
  int shift = 0;

  // clang-format off
  ATTN_FN auto value(int slot) const { return base.value(slot + shift); }
  template <class I> ATTN_FN auto at(int slot, I index) const { return base.at(slot + shift, index); }
  template <class S> ATTN_FN auto along(int slot, const S& site) const { return base.along(slot + shift, site); }

  ATTN_FN bool wants(int slot) const { return base.wants(slot + shift); }
  template <class V> ATTN_FN void value(int slot, V grad) const { base.value(slot + shift, grad); }
  template <class I, class V> ATTN_FN void at(int slot, I index, V grad) const { base.at(slot + shift, index, grad); }
  template <class S, class V> ATTN_FN void along(int slot, const S& site, V grad) const { base.along(slot + shift, site, grad); }
  // clang-format on
};

/// s' = last(... first(s)). The tables of the links follow one another: slot 0 is the first
/// table of the first link that reads any.
template <class... Links>
struct Chain {
  static constexpr int kTables = 0;

  template <class V>
  ATTN_FN V forward(V s, Site<V>) const {
    return s;
  }

  template <class V>
  ATTN_FN V backward(V grad, V, Site<V>) const {
    return grad;
  }
};

template <class First, class... Rest>
struct Chain<First, Rest...> {
  static constexpr int kTables = kTablesOf<First> + Chain<Rest...>::kTables;
  static constexpr bool kOneFile = OneFileFunctor<First> || OneFileFunctor<Chain<Rest...>>;
  static_assert(kTables <= kMaxTables, "a chain reads at most kMaxTables tables");
  static_assert(
      kTablesOf<First> > 0 || requires(const First& f, double s, Site<double> at) {
        f.forward(s, at);
      }, "a link that reads tables says how many: static constexpr int kTables");

  First first;
  Chain<Rest...> rest;

  template <class V, class P>
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    const V middle = call_forward(first, s, at, p);
    return call_forward(rest, middle, at, ShiftedSlots<P>{p, kTablesOf<First>});
  }

  /// Recomputes what went into each link, then walks back.
  template <class V, class P, class G>
  ATTN_FN V backward(V grad, V s, Site<V> at, const P& p, const G& g) const {
    const V middle = call_forward(first, s, at, p);
    const ShiftedSlots<P> later{p, kTablesOf<First>};
    const ShiftedSlots<G> later_grads{g, kTablesOf<First>};
    const V inner =
        call_backward(rest, grad, middle, at, later, later_grads, Chain<Rest...>::kTables);
    return call_backward(first, inner, s, at, p, g, kTablesOf<First>);
  }
};

static_assert(ScoreFunctor<Chain<>>);

/// chain(Scale{0.125f}, SoftCap{30.0f}, Alibi{}): scaled, then capped, then biased.
constexpr Chain<> chain() {
  return {};
}
template <ScoreFunctor First, ScoreFunctor... Rest>
constexpr Chain<First, Rest...> chain(First first, Rest... rest) {
  return {first, chain(rest...)};
}

}  // namespace attn::score
