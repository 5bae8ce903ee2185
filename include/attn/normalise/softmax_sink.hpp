/// Softmax with a sink: a learnt score of each head takes part in the sum and has no value, so
/// that a head may attend to nothing.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/normalise/softmax.hpp"

namespace attn::normalise {

/// w = exp(s) / (exp(sink) + sum exp(s)), sink = entry 0 of table 0 [1, heads, 1, 1]; stat is
/// the log-sum-exp with the sink. Xiao et al., 2024, arXiv:2309.17453; gpt-oss, 2025,
/// arXiv:2508.10925.
struct SoftmaxSink {
  static constexpr int kTables = 1;
  static constexpr bool kRunsMax = true;
  static constexpr Coupling kCoupling = Coupling::output;

  template <class V>
  ATTN_FN V weight(V s, V reference) const {
    return Softmax{}.weight(s, reference);
  }

  template <class V>
  ATTN_FN V rescale(V old_reference, V new_reference) const {
    return Softmax{}.rescale(old_reference, new_reference);
  }

  template <class V>
  ATTN_FN V mass(V weight) const {
    return weight;
  }

  /// The sink joins as one more key. A row without keys has scale 0 and the sink as stat.
  template <class V, class P>
  ATTN_FN Row<V> finish(V reference, V mass, const P& p) const {
    const V sink = V(p.value(0));
    const V largest = max(reference, sink);
    const V shrink = rescale(reference, largest);
    const V total = shrink * mass + rescale(sink, largest);
    const auto kept = mass > V(0.0f);
    return {select(kept, shrink / total, V(0.0f)),
            select(largest > V(-kInfinity), largest + log(total), V(-kInfinity))};
  }

  template <class V>
  ATTN_FN V final_weight(V s, V stat, Site<V>) const {
    return weight(s, stat);
  }

  template <class V>
  ATTN_FN V final_slope(V, V w, V, Site<V>) const {
    return w;
  }

  /// d sink = -exp(sink - stat) * delta, delta being the sum of weight * d weight of the row
  /// (less the gradient of stat, where there is one).
  template <class V, class P, class G>
  ATTN_FN void backward_row(V stat, V delta, const P& p, const G& g) const {
    g.value(0, -(weight(V(p.value(0)), stat) * delta));
  }
};

static_assert(Normaliser<SoftmaxSink> && StreamingNormaliser<SoftmaxSink>);

}  // namespace attn::normalise
