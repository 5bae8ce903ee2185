/// The kernels of attention by whole rows: scores, weights, and what is pooled or looked at.
/// Matrices are [row, key], packed.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/rows.hpp"
#include "kernels/gpu/rows/row_stages.cuh"
#include "kernels/gpu/rows/sizes.cuh"
#include "kernels/similarity.hpp"

namespace attn::gpu {

template <class V>
__device__ __forceinline__ V masked_score() {
  return V(-kInfinity);
}

/// Row i of anything shaped like the queries, and row j of anything shaped like the keys.
template <class T>
__device__ __forceinline__ T* query_row(const View<T, 4>& view, const RowSizes& n,
                                        std::int64_t row) {
  const Site<float> at = n.site<float>(row, 0);
  return view.at(at.batch, at.head, at.q);
}
template <class T>
__device__ __forceinline__ T* key_row(const View<T, 4>& view, const RowSizes& n,
                                      std::int64_t row) {
  const std::int64_t unit = row / n.keys;
  return view.at(n.batch(unit), n.kv_head(unit), row % n.keys);
}

/// Rows of any layout and type, packed: functors read vectors.
template <bool kQueries, class T, class V>
__global__ void pack_kernel(RowSizes n, View<const T, 4> from, V* to) {
  const std::int64_t rows = kQueries ? n.rows() : n.all_keys();
  for_each_thread(rows * n.channels, [&](std::int64_t i) {
    const T* row =
        kQueries ? query_row(from, n, i / n.channels) : key_row(from, n, i / n.channels);
    to[i] = static_cast<V>(row[i % n.channels * from.strides[3]]);
  });
}

/// The similarity's weights [kv head, entry].
template <class V>
__global__ void pack_weights_kernel(Table weights, int kv_heads, V* to) {
  const std::int64_t entries = weights.shape[3];
  for_each_thread(kv_heads * entries, [&](std::int64_t i) {
    const Params<V> p{&weights, 0, static_cast<int>(i / entries), 0};
    to[i] = p.at(0, static_cast<int>(i % entries));
  });
}

/// The similarity's own weights for one kv head: none, one or one a channel.
template <class V>
struct SimilarityWeights {
  const V* data = nullptr;
  int count = 0;
};

/// Before any scale.
template <class V>
__device__ V similarity_of(Similarity similarity, const V* q, const V* k, int channels,
                           const SimilarityWeights<V>& w) {
  V result{};
  visit_similarity(similarity, w.count,
                   [&](auto s) { result = decltype(s)::score(q, k, channels, w.data); });
  return result;
}

/// The packed inputs of a piece.
template <class V>
struct RowInputs {
  const V* q = nullptr;
  const V* k = nullptr;
  const V* weights = nullptr;
  int weight_count = 0;

  __device__ SimilarityWeights<V> weights_of(int kv_head) const {
    return {weights + static_cast<std::int64_t>(kv_head) * weight_count, weight_count};
  }
};

/// Similarities, where somebody keeps them, and masked scores.
template <class V>
__global__ void scores_kernel(RowSizes n, RowInputs<V> in, RowStages stages, V* similarities,
                              V* scores) {
  for_each_thread(n.rows() * n.keys, [&](std::int64_t i) {
    const std::int64_t row = i / n.keys;
    const Site<V> at = n.site<V>(row, static_cast<int>(i % n.keys));
    const std::int64_t unit = n.unit_of_row(row);
    V s = masked_score<V>();
    if (stages.mask.keep(at)) {
      const V found = similarity_of(stages.similarity, in.q + row * n.channels,
                                    in.k + (unit * n.keys + at.k) * n.channels, n.channels,
                                    in.weights_of(n.kv_head(unit)));
      if (similarities != nullptr) similarities[i] = found;
      s = stages.score.forward(static_cast<V>(stages.scale) * found, at,
                               params(stages.score_tables.data, at));
    }
    scores[i] = s;
  });
}

/// stat of each row, a warp a row. A normaliser that must see a whole row does so in one lane.
template <class V>
__global__ void stats_kernel(RowSizes n, RowStages stages, const V* scores, V* stats) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for_each_warp(n.rows(), [&](std::int64_t row) {
    const V* s = scores + row * n.keys;
    const Site<V> at = n.site<V>(row, 0);
    V stat{};
    stages.normaliser.visit([&](const auto& normaliser) {
      using N = std::remove_cvref_t<decltype(normaliser)>;
      if constexpr (StreamingNormaliser<N>) {
        V reference = N::kRunsMax ? masked_score<V>() : V(0.0f);
        if constexpr (N::kRunsMax) {
          for (int j = lane; j < n.keys; j += 32) reference = fmax(reference, s[j]);
          reference = warp_max(reference);
        }
        V mass = V(0.0f);
        for (int j = lane; j < n.keys; j += 32)
          if (s[j] != masked_score<V>())
            mass += normaliser.mass(normaliser.weight(s[j], reference));
        mass = warp_sum(mass);
        stat =
            normaliser.finish(reference, mass, params(stages.normaliser_tables.data, at)).stat;
      } else {
        if (lane == 0) stat = normaliser.solve(s, n.keys, at);
      }
    });
    if (lane == 0) stats[row] = stat;
  });
}

/// Scores become weights; `to` may be `scores`.
template <class V>
__global__ void weights_kernel(RowSizes n, RowStages stages, const V* scores, const V* stats,
                               V* to) {
  for_each_thread(n.rows() * n.keys, [&](std::int64_t i) {
    const std::int64_t row = i / n.keys;
    const Site<V> at = n.site<V>(row, static_cast<int>(i % n.keys));
    const V s = scores[i];
    // A masked place keeps weight zero whatever a modifier makes of it.
    to[i] = s == masked_score<V>() ? V(0.0f)
                                   : modified(stages, normalised(stages, s, stats[row], at),
                                              stages.factor.count, at);
  });
}

/// out = weights . v.
template <class T, class V>
__global__ void pool_kernel(RowSizes n, const V* weights, View<const T, 4> v, View<T, 4> out) {
  for_each_thread(n.rows() * n.values, [&](std::int64_t i) {
    const std::int64_t row = i / n.values;
    const std::int64_t unit = n.unit_of_row(row);
    const V* w = weights + row * n.keys;
    const T* value = v.at(n.batch(unit), n.kv_head(unit), 0, i % n.values);
    V sum = V(0.0f);
    for (int j = 0; j < n.keys; ++j)
      // What is not looked at cannot be NaN either.
      if (w[j] != V(0.0f)) sum += w[j] * static_cast<V>(value[j * v.strides[2]]);
    query_row(out, n, row)[i % n.values * out.strides[3]] = T(sum);
  });
}

template <class V>
__global__ void copy_rows_kernel(RowSizes n, const V* from, View<V, 4> to) {
  for_each_thread(n.rows() * n.keys, [&](std::int64_t i) {
    const Site<V> at = n.site<V>(i / n.keys, static_cast<int>(i % n.keys));
    *to.at(at.batch, at.head, at.q, at.k) = from[i];
  });
}

template <class V>
__global__ void copy_stats_kernel(RowSizes n, const V* from, View<V, 3> to) {
  for_each_thread(n.rows(), [&](std::int64_t row) {
    const Site<V> at = n.site<V>(row, 0);
    *to.at(at.batch, at.head, at.q) = from[row];
  });
}

template <class V>
__global__ void column_sums_kernel(RowSizes n, const V* weights, View<V, 3> to) {
  for_each_thread(n.units * n.group * n.keys, [&](std::int64_t i) {
    const std::int64_t head_rows = i / n.keys * n.queries;
    const int j = static_cast<int>(i % n.keys);
    V sum = V(0.0f);
    for (int q = 0; q < n.queries; ++q) sum += weights[(head_rows + q) * n.keys + j];
    const std::int64_t unit = i / n.keys / n.group;
    *to.at(n.batch(unit), n.kv_head(unit) * n.group + i / n.keys % n.group, j) = sum;
  });
}

/// A thread an entry: the outermost entries take all keys beyond the reach.
template <class V>
__global__ void distance_sums_kernel(RowSizes n, const V* weights, int offset, View<V, 4> to) {
  const int entries = static_cast<int>(to.shape[3]);
  for_each_thread(n.rows() * entries, [&](std::int64_t i) {
    const std::int64_t row = i / entries;
    const int entry = static_cast<int>(i % entries);
    const Site<V> at = n.site<V>(row, 0);
    const int here = at.q + offset + entry - entries / 2;
    const int begin = entry == 0 ? 0 : max(here, 0);
    const int end = entry == entries - 1 ? n.keys : min(here + 1, n.keys);
    V sum = V(0.0f);
    for (int j = begin; j < end; ++j) sum += weights[row * n.keys + j];
    *to.at(at.batch, at.head, at.q, entry) = sum;
  });
}

/// The heaviest keys of a row, a warp a row: each round looks for the next after the last.
template <class V>
__global__ void top_kernel(RowSizes n, const V* weights, int count, View<std::int64_t, 4> keys,
                           View<V, 4> values, View<std::int64_t, 3> first) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for_each_warp(n.rows(), [&](std::int64_t row) {
    const V* w = weights + row * n.keys;
    const Site<V> at = n.site<V>(row, 0);
    V last = V(kInfinity);
    int last_key = -1;
    for (int round = 0; round < count; ++round) {
      V best = V(0.0f);
      int key = n.keys;
      for (int j = lane; j < n.keys; j += 32) {
        const bool later = w[j] < last || (w[j] == last && j > last_key);
        if (later && w[j] > best) {
          best = w[j];
          key = j;
        }
      }
      for (int apart = 16; apart > 0; apart /= 2) {
        const V other = __shfl_xor_sync(0xffffffffu, best, apart);
        const int other_key = __shfl_xor_sync(0xffffffffu, key, apart);
        if (other > best || (other == best && other_key < key)) {
          best = other;
          key = other_key;
        }
      }
      const bool found = key < n.keys;
      if (lane == 0) {
        const std::int64_t answer = found ? key : -1;
        if (round == 0 && first.data != nullptr) *first.at(at.batch, at.head, at.q) = answer;
        if (keys.data != nullptr && round < keys.shape[3]) {
          *keys.at(at.batch, at.head, at.q, round) = answer;
          *values.at(at.batch, at.head, at.q, round) = best;
        }
      }
      // Nothing comes after nothing.
      last = found ? best : V(-kInfinity);
      last_key = key;
    }
  });
}

}  // namespace attn::gpu
