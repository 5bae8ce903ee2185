/// The kernels of attention's gradients by whole rows.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <type_traits>

#include "kernels/gpu/rows/rows_forward.cuh"

namespace attn::gpu {

/// |x| of each packed row.
template <class V>
__global__ void norms_kernel(std::int64_t rows, int channels, const V* x, V* norms) {
  for_each_thread(rows, [&](std::int64_t row) {
    const V* own = x + row * channels;
    norms[row] = sqrt(score::Dot::score(own, own, channels));
  });
}

/// What arrives at each weight: d_out . v, and what was sent to the weights themselves.
template <class T, class V>
__global__ void d_weights_kernel(RowSizes n, const V* scores, View<const T, 4> v,
                                 View<const T, 4> d_out, WeightGrads<V> arrived, V* dw) {
  for_each_thread(n.rows() * n.keys, [&](std::int64_t i) {
    const std::int64_t row = i / n.keys;
    const Site<V> at = n.site<V>(row, static_cast<int>(i % n.keys));
    V sum = V(0.0f);
    if (scores[i] != masked_score<V>()) {
      const std::int64_t unit = n.unit_of_row(row);
      const T* value = v.at(n.batch(unit), n.kv_head(unit), at.k);
      const T* grad = query_row(d_out, n, row);
      for (int c = 0; c < n.values; ++c)
        sum += static_cast<V>(grad[c * d_out.strides[3]]) *
               static_cast<V>(value[c * v.strides[3]]);
      sum += arrived.at(at.batch, at.head, at.q, at.k);
    }
    dw[i] = sum;
  });
}

/// dv of a key: the queries of its group, one after the other.
template <class T, class V>
__global__ void d_values_kernel(RowSizes n, const V* scores, const V* weights,
                                View<const T, 4> d_out, View<T, 4> dv) {
  for_each_thread(n.all_keys() * n.values, [&](std::int64_t i) {
    const std::int64_t key = i / n.values;
    const std::int64_t c = i % n.values;
    const std::int64_t rows = static_cast<std::int64_t>(n.group) * n.queries;
    const std::int64_t first = key / n.keys * rows;
    V sum = V(0.0f);
    for (std::int64_t row = first; row < first + rows; ++row) {
      const std::int64_t place = row * n.keys + key % n.keys;
      if (scores[place] == masked_score<V>()) continue;
      sum += weights[place] * static_cast<V>(query_row(d_out, n, row)[c * d_out.strides[3]]);
    }
    key_row(dv, n, key)[c * dv.strides[3]] = T(sum);
  });
}

/// The gradient of a weight goes back through the modifiers of weights.
template <class V>
__device__ V through_modifiers(const RowStages& stages, const RowStagesGrads& grads, V dw, V w,
                               const Site<V>& at) {
  const Params<V> p = params(stages.factor_tables.data, at);
  const AtomicGrads<V> g{grads.factor.data, at.batch, at.head, at.q};
  for (int i = stages.factor.count - 1; i >= 0; --i) {
    const AnyRowWeight& link = stages.factor.links[i];
    const V input = modified(stages, w, i, at);
    link.visit([&](const auto& f) {
      dw = call_backward(f, dw, input, at, score::ShiftedSlots<Params<V>>{p, link.slot},
                         score::ShiftedSlots<AtomicGrads<V>>{g, link.slot}, link.slots);
    });
  }
  return dw;
}

/// Gradients of weights become those of similarities, in place; a warp a row.
template <class V>
__global__ void d_scores_kernel(RowSizes n, RowStages stages, RowStagesGrads grads,
                                const V* similarities, const V* scores, const V* stats,
                                View<const V, 3> d_stat, V* dw) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for_each_warp(n.rows(), [&](std::int64_t row) {
    const V* s = scores + row * n.keys;
    V* grad = dw + row * n.keys;
    const V stat = stats[row];
    Site<V> at = n.site<V>(row, 0);
    const auto slope_of = [&](V score, V w) {
      V slope{};
      stages.normaliser.visit(
          [&](const auto& norm) { slope = norm.final_slope(score, w, stat, at); });
      return slope;
    };
    V numerator = V(0.0f);
    V denominator = V(0.0f);
    for (at.k = lane; at.k < n.keys; at.k += 32) {
      if (s[at.k] == masked_score<V>()) continue;
      const V w = normalised(stages, s[at.k], stat, at);
      const V arrived = through_modifiers(stages, grads, grad[at.k], w, at);
      grad[at.k] = arrived;
      const V share = stages.coupling == Coupling::output ? w : slope_of(s[at.k], w);
      numerator += share * arrived;
      denominator += share;
    }
    numerator = warp_sum(numerator);
    denominator = warp_sum(denominator);
    V delta = V(0.0f);
    if (stages.coupling == Coupling::output)
      delta =
          numerator - (d_stat.data == nullptr ? V(0.0f) : *d_stat.at(at.batch, at.head, at.q));
    if (stages.coupling == Coupling::support && denominator > V(0.0f))
      delta = numerator / denominator;
    if (lane == 0) {
      stages.normaliser.visit([&](const auto& norm) {
        const Params<V> p = params(stages.normaliser_tables.data, at);
        const AtomicGrads<V> g{grads.normaliser.data, at.batch, at.head, at.q};
        if constexpr (requires { norm.backward_row(stat, delta, p, g); })
          norm.backward_row(stat, delta, p, g);
      });
    }
    for (at.k = lane; at.k < n.keys; at.k += 32) {
      V ds = V(0.0f);
      if (s[at.k] != masked_score<V>()) {
        const V w = normalised(stages, s[at.k], stat, at);
        const auto scale = static_cast<V>(stages.scale);
        ds = scale *
             stages.score.backward(slope_of(s[at.k], w) * (grad[at.k] - delta),
                                   scale * similarities[row * n.keys + at.k], at,
                                   params(stages.score_tables.data, at),
                                   AtomicGrads<V>{grads.score.data, at.batch, at.head, at.q});
      }
      grad[at.k] = ds;
    }
  });
}

/// What a cosine's gradient needs of the whole vectors; other similarities need nothing.
template <class V>
struct WholeVectors {
  V q_norm{};
  V k_norm{};
  V similarity{};
};

/// Adds the gradients of one channel c; each pointer may be null. A channel of all similarities
/// but the cosine is a similarity of one channel.
template <class V>
__device__ void similarity_backward(Similarity similarity, V ds, V q, V k, int c,
                                    const SimilarityWeights<V>& w, const WholeVectors<V>& whole,
                                    V* dq, V* dk, V* dw) {
  if (similarity == Similarity::cosine) {
    score::Cosine::backward_channel(ds, q, k, whole.q_norm, whole.k_norm, whole.similarity, dq,
                                    dk);
    return;
  }
  const V* own = w.count > 1 ? w.data + c : w.data;
  visit_similarity(similarity, w.count, [&](auto s) {
    using S = decltype(s);
    if constexpr (!std::is_same_v<S, score::Cosine>)
      S::backward(ds, &q, &k, 1, own, dq, dk, dw);
  });
}

/// What the gradients of q and k are made of.
template <class V>
struct RowPairs {
  RowInputs<V> in;
  Similarity similarity;
  const V* similarities;
  const V* scores;
  const V* ds;
  const V* q_norms;  ///< for the cosine
  const V* k_norms;

  /// Adds the gradients of channel c of a pair that is not masked.
  __device__ void add(const RowSizes& n, std::int64_t row, std::int64_t key, int c, V* dq,
                      V* dk, V* dw) const {
    const std::int64_t place = row * n.keys + key % n.keys;
    if (scores[place] == masked_score<V>()) return;
    WholeVectors<V> whole;
    if (similarity == Similarity::cosine)
      whole = {q_norms[row], k_norms[key], similarities[place]};
    similarity_backward(similarity, ds[place], in.q[row * n.channels + c],
                        in.k[key * n.channels + c], c, in.weights_of(n.kv_head(key / n.keys)),
                        whole, dq, dk, dw);
  }
};

/// dq, and the gradient of the similarity's weights; a thread a channel of a row.
template <class T, class V>
__global__ void d_queries_kernel(RowSizes n, RowPairs<V> pairs, View<T, 4> dq, TableGrad dw) {
  for_each_thread(n.rows() * n.channels, [&](std::int64_t i) {
    const std::int64_t row = i / n.channels;
    const int c = static_cast<int>(i % n.channels);
    const std::int64_t unit = n.unit_of_row(row);
    V sum = V(0.0f);
    V weight = V(0.0f);
    for (int j = 0; j < n.keys; ++j)
      pairs.add(n, row, unit * n.keys + j, c, &sum, nullptr, &weight);
    if (dq.data != nullptr) query_row(dq, n, row)[c * dq.strides[3]] = T(sum);
    if (dw.data != nullptr)
      AtomicGrads<V>{&dw, 0, n.kv_head(unit), 0}.at(0, dw.shape[3] == 1 ? 0 : c, weight);
  });
}

template <class T, class V>
__global__ void d_keys_kernel(RowSizes n, RowPairs<V> pairs, View<T, 4> dk) {
  for_each_thread(n.all_keys() * n.channels, [&](std::int64_t i) {
    const std::int64_t key = i / n.channels;
    const int c = static_cast<int>(i % n.channels);
    const std::int64_t rows = static_cast<std::int64_t>(n.group) * n.queries;
    const std::int64_t first = key / n.keys * rows;
    V sum = V(0.0f);
    for (std::int64_t row = first; row < first + rows; ++row)
      pairs.add(n, row, key, c, nullptr, &sum, nullptr);
    key_row(dk, n, key)[c * dk.strides[3]] = T(sum);
  });
}

}  // namespace attn::gpu
