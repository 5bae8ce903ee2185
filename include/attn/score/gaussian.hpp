/// A Gaussian on the score: keys near a centre are preferred before normalisation. The one on
/// the weight, which is not renormalised, is normalise/local_gaussian.hpp.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"

namespace attn::score {

/// s' = s - (k - c)^2 / (2 sigma^2), c = entry 0 of table 0, [batch, heads, queries, 1].
/// Yang et al., 2018, arXiv:1810.10182.
struct Gaussian {
  static constexpr int kTables = 1;

  float sigma = 1.0f;

  template <class V, class P>
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    const V z = (real<V>(at.k) - p.value(0)) / sigma;
    return s - 0.5f * (z * z);
  }

  template <class V, class P, class G>
  ATTN_FN V backward(V grad, V, Site<V> at, const P& p, const G& g) const {
    const V z = (real<V>(at.k) - p.value(0)) / sigma;
    g.value(0, grad * z / sigma);
    return grad;
  }
};

static_assert(ScoreFunctor<Gaussian>);

/// The same with a learnt width: sigma = entry 0 of table 1.
struct LearnedGaussian {
  static constexpr int kTables = 2;

  template <class V, class P>
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    const V z = (real<V>(at.k) - p.value(0)) / p.value(1);
    return s - 0.5f * (z * z);
  }

  template <class V, class P, class G>
  ATTN_FN V backward(V grad, V, Site<V> at, const P& p, const G& g) const {
    const V sigma = p.value(1);
    const V z = (real<V>(at.k) - p.value(0)) / sigma;
    g.value(0, grad * z / sigma);
    g.value(1, grad * z * z / sigma);
    return grad;
  }
};

static_assert(ScoreFunctor<LearnedGaussian>);

}  // namespace attn::score
