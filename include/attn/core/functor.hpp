/// Calling a functor: with or without parameters, with its own backward or by dual numbers.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/dual.hpp"
#include "attn/core/macros.hpp"
#include "attn/core/params.hpp"
#include "attn/core/site.hpp"

namespace attn {

/// forward(s, at) or forward(s, at, p).
template <class F, class V, class P>
concept ReadsParams =
    requires(const F& f, V s, Site<V> at, const P& p) { f.forward(s, at, p); };

template <class F, class V, class P>
ATTN_FN V call_forward(const F& f, V s, const Site<V>& at, const P& p) {
  if constexpr (ReadsParams<F, V, P>) {
    return f.forward(s, at, p);
  } else {
    return f.forward(s, at);
  }
}

/// f.factor(at) or f.factor(at, p).
template <class F, class V, class P>
ATTN_FN V call_factor(const F& f, const Site<V>& at, const P& p) {
  if constexpr (requires { f.factor(at, p); }) {
    return f.factor(at, p);
  } else {
    return f.factor(at);
  }
}

/// The gradient with respect to s, given the gradient of forward's result; gradients of the
/// tables are added to g. Uses f.backward(grad, s, at[, p, g]) where it exists.
template <class F, class V, class P, class G>
ATTN_FN V call_backward(const F& f, V grad, V s, const Site<V>& at, const P& p, const G& g,
                        int slots) {
  if constexpr (requires { f.backward(grad, s, at, p, g); }) {
    return f.backward(grad, s, at, p, g);
  } else if constexpr (requires { f.backward(grad, s, at); }) {
    return f.backward(grad, s, at);
  } else {
    using Parameters = DualParams<V, P>;
    const Site<Dual<V>> place{at.batch, at.head, at.q, at.k};
    if constexpr (ReadsParams<F, Dual<V>, Parameters>) {
      for (int slot = 0; slot < slots; ++slot) {
        if (!g.wants(slot)) continue;
        for (int call = 0;; ++call) {
          const Parameters seeded{p, slot, call};
          const Dual<V> result = f.forward(Dual<V>(s, V(0.0f)), place, seeded);
          if (seeded.seen <= call) break;
          if (seeded.read == Parameters::Read::value) g.value(slot, grad * result.slope);
          if (seeded.read == Parameters::Read::at)
            g.at(slot, seeded.index, grad * result.slope);
          if (seeded.read == Parameters::Read::along) g.along(slot, at, grad * result.slope);
        }
      }
    }
    return grad * call_forward(f, Dual<V>(s, V(1.0f)), place, Parameters{p}).slope;
  }
}

}  // namespace attn
