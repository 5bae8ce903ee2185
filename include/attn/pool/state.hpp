/// Mergeable states: attention over two sets of keys becomes attention over both.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"

namespace attn::pool {

/// How two partial results mix: out = a * out_a + b * out_b.
template <class V>
struct Mix {
  V a;
  V b;
  V lse;
};

/// lse = log(e^la + e^lb), a = e^(la - lse), b = e^(lb - lse). An empty part has lse -inf and
/// changes nothing; two empty parts give a = b = 0 and lse -inf.
/// Milakov and Gimelshein, 2018, arXiv:1805.02867; Dao et al., 2022, arXiv:2205.14135.
template <class V>
ATTN_FN Mix<V> mix(V lse_a, V lse_b) {
  const V largest = max(lse_a, lse_b);
  const auto any = largest > V(-kInfinity);
  const V e_a = select(lse_a > V(-kInfinity), exp(lse_a - largest), V(0.0f));
  const V e_b = select(lse_b > V(-kInfinity), exp(lse_b - largest), V(0.0f));
  const V sum = e_a + e_b;
  return {select(any, e_a / sum, V(0.0f)), select(any, e_b / sum, V(0.0f)),
          select(any, largest + log(sum), V(-kInfinity))};
}

/// One channel of the mix; what an empty part holds is not read.
template <class V>
ATTN_FN V mixed(const Mix<V>& by, V out_a, V out_b) {
  const V from_a = select(by.a > V(0.0f), by.a * out_a, V(0.0f));
  const V from_b = select(by.b > V(0.0f), by.b * out_b, V(0.0f));
  return from_a + from_b;
}

/// Merges part b into part a: out_a and out_b [channels]. Returns the log-sum-exp of both;
/// `out` may be out_a or out_b.
template <class V>
ATTN_FN V merge(V lse_a, const V* out_a, V lse_b, const V* out_b, int channels, V* out) {
  const Mix<V> by = mix(lse_a, lse_b);
  for (int c = 0; c < channels; ++c) out[c] = mixed(by, out_a[c], out_b[c]);
  return by.lse;
}

/// The gradients of the two log-sum-exps.
template <class V>
struct MixGrad {
  V lse_a;
  V lse_b;
};

/// Given d_out [channels] and d_lse of the merge: writes d_out_a = a d_out and d_out_b = b
/// d_out, and returns d_lse_a = a (d_lse + d_out . (out_a - out)), d_lse_b likewise. Empty
/// parts get 0.
template <class V>
ATTN_FN MixGrad<V> merge_backward(V lse_a, const V* out_a, V lse_b, const V* out_b,
                                  int channels, const V* d_out, V d_lse, V* d_out_a,
                                  V* d_out_b) {
  const Mix<V> by = mix(lse_a, lse_b);
  V towards_a = d_lse;
  V towards_b = d_lse;
  for (int c = 0; c < channels; ++c) {
    const V out = mixed(by, out_a[c], out_b[c]);
    towards_a = towards_a + d_out[c] * (out_a[c] - out);
    towards_b = towards_b + d_out[c] * (out_b[c] - out);
    d_out_a[c] = by.a * d_out[c];
    d_out_b[c] = by.b * d_out[c];
  }
  return {select(by.a > V(0.0f), by.a * towards_a, V(0.0f)),
          select(by.b > V(0.0f), by.b * towards_b, V(0.0f))};
}

}  // namespace attn::pool
