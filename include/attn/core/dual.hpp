/// Dual numbers: a value with its derivative in one direction, so that a functor that only
/// has `forward` still has gradients. Works over float, double and SIMD lanes.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <type_traits>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"
#include "attn/core/site.hpp"

namespace attn {

/// value + slope * epsilon, epsilon^2 = 0.
template <class V>
struct Dual {
  V value;
  V slope;

  Dual() = default;
  ATTN_FN Dual(V v, V s) : value(v), slope(s) {}
  /// A constant.
  ATTN_FN Dual(V v) : value(v), slope(v - v) {}  // NOLINT(google-explicit-constructor)
  ATTN_FN Dual(float v)                          // NOLINT(google-explicit-constructor)
    requires(!std::is_same_v<V, float>)
      : value(v), slope(0.0f) {}
};

template <class V>
struct IndexOf<Dual<V>> {
  using type = Index<V>;
};

// clang-format off
template <class V> ATTN_FN Dual<V> operator-(Dual<V> a) { return {-a.value, -a.slope}; }
template <class V> ATTN_FN Dual<V> operator+(Dual<V> a, Dual<V> b) { return {a.value + b.value, a.slope + b.slope}; }
template <class V> ATTN_FN Dual<V> operator-(Dual<V> a, Dual<V> b) { return {a.value - b.value, a.slope - b.slope}; }
template <class V> ATTN_FN Dual<V> operator*(Dual<V> a, Dual<V> b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
template <class V> ATTN_FN Dual<V> operator/(Dual<V> a, Dual<V> b) { const V q = a.value / b.value; return {q, (a.slope - q * b.slope) / b.value}; }
template <class V> ATTN_FN Dual<V> operator+(Dual<V> a, std::type_identity_t<V> b) { return {a.value + b, a.slope}; }
template <class V> ATTN_FN Dual<V> operator+(std::type_identity_t<V> a, Dual<V> b) { return {a + b.value, b.slope}; }
template <class V> ATTN_FN Dual<V> operator-(Dual<V> a, std::type_identity_t<V> b) { return {a.value - b, a.slope}; }
template <class V> ATTN_FN Dual<V> operator-(std::type_identity_t<V> a, Dual<V> b) { return {a - b.value, -b.slope}; }
template <class V> ATTN_FN Dual<V> operator*(Dual<V> a, std::type_identity_t<V> b) { return {a.value * b, a.slope * b}; }
template <class V> ATTN_FN Dual<V> operator*(std::type_identity_t<V> a, Dual<V> b) { return {a * b.value, a * b.slope}; }
template <class V> ATTN_FN Dual<V> operator/(Dual<V> a, std::type_identity_t<V> b) { return {a.value / b, a.slope / b}; }
template <class V> ATTN_FN Dual<V> operator/(std::type_identity_t<V> a, Dual<V> b) { const V q = a / b.value; return {q, -q * b.slope / b.value}; }

template <class V> ATTN_FN auto operator<(Dual<V> a, Dual<V> b) { return a.value < b.value; }
template <class V> ATTN_FN auto operator>(Dual<V> a, Dual<V> b) { return a.value > b.value; }
template <class V> ATTN_FN auto operator<=(Dual<V> a, Dual<V> b) { return a.value <= b.value; }
template <class V> ATTN_FN auto operator>=(Dual<V> a, Dual<V> b) { return a.value >= b.value; }
template <class V> ATTN_FN auto operator<(Dual<V> a, std::type_identity_t<V> b) { return a.value < b; }
template <class V> ATTN_FN auto operator>(Dual<V> a, std::type_identity_t<V> b) { return a.value > b; }
template <class V> ATTN_FN auto operator<=(Dual<V> a, std::type_identity_t<V> b) { return a.value <= b; }
template <class V> ATTN_FN auto operator>=(Dual<V> a, std::type_identity_t<V> b) { return a.value >= b; }

template <class V> ATTN_FN Dual<V> exp(Dual<V> x) { const V y = exp(x.value); return {y, y * x.slope}; }
template <class V> ATTN_FN Dual<V> log(Dual<V> x) { return {log(x.value), x.slope / x.value}; }
template <class V> ATTN_FN Dual<V> tanh(Dual<V> x) { const V y = tanh(x.value); return {y, (1.0f - y * y) * x.slope}; }
template <class V> ATTN_FN Dual<V> sqrt(Dual<V> x) { const V y = sqrt(x.value); return {y, x.slope / (2.0f * y)}; }
template <class V> ATTN_FN Dual<V> sigmoid(Dual<V> x) { const V y = sigmoid(x.value); return {y, y * (1.0f - y) * x.slope}; }
template <class V> ATTN_FN Dual<V> floor(Dual<V> x) { return Dual<V>(floor(x.value)); }
template <class V> ATTN_FN Dual<V> abs(Dual<V> x) { return {abs(x.value), select(x.value < V(0.0f), -x.slope, x.slope)}; }
template <class M, class V> ATTN_FN Dual<V> select(M condition, Dual<V> a, Dual<V> b) { return {select(condition, a.value, b.value), select(condition, a.slope, b.slope)}; }
template <class M, class V> ATTN_FN Dual<V> select(M condition, Dual<V> a, std::type_identity_t<V> b) { return select(condition, a, Dual<V>(b)); }
template <class V> ATTN_FN Dual<V> min(Dual<V> a, Dual<V> b) { return select(b.value < a.value, b, a); }
template <class V> ATTN_FN Dual<V> max(Dual<V> a, Dual<V> b) { return select(a.value < b.value, b, a); }
template <class V> ATTN_FN Dual<V> min(Dual<V> a, std::type_identity_t<V> b) { return min(a, Dual<V>(b)); }
template <class V> ATTN_FN Dual<V> max(Dual<V> a, std::type_identity_t<V> b) { return max(a, Dual<V>(b)); }
// clang-format on

/// real<Dual<V>>(index): a whole number is a constant.
template <class D>
  requires requires(D d) {
    d.value;
    d.slope;
  }
ATTN_FN D real(Index<D> index) {
  return D(real<decltype(D::value)>(index));
}

}  // namespace attn
