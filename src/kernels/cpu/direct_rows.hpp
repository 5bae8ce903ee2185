/// Scores and pooling of rows where they lie: lanes run along the channels, several keys pass
/// at once.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/lane_math.hpp"
#include "kernels/cpu/pack.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/similarity.hpp"
#include "kernels/cpu/transpose.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// Rows whose addresses and sums fit the registers together.
inline constexpr int kAtOnce = kLanes < 8 ? kLanes : 8;

/// The queries of a group, prepared.
struct DirectQueries {
  const float* data;  ///< [rows, stride], zeros past the channels
  std::int64_t stride;
  int rows;
  int channels;
  const float* weights;  ///< of the similarity, zeros past the channels
};

/// The addresses of rows [first, first + count); the last is repeated to fill a vector.
template <class T>
ATTN_FN void list_rows(const Rows<T>& rows, int first, int count, T** list) {
  for (int j = 0; j < count;) {
    const int even = static_cast<int>(rows.even(first + j, count - j));
    T* row = rows.at(first + j);
    for (int i = 0; i < even; ++i) list[j + i] = row + i * rows.row;
    j += even;
  }
  for (int j = count; j < round_up(count, kLanes); ++j) list[j] = list[count - 1];
}

/// The similarity's weights as a row: of distance and additive, else not looked at.
ATTN_FN void read_weights(const Plan& plan, int kv_head, float* to, std::int64_t stride) {
  const bool given = plan.weights.data != nullptr;
  for (int c = 0; c < stride; ++c) {
    const float one = given ? weights_of(plan, kv_head)[c < plan.channels ? c * plan.weights.strides[3] : 0] : 1.0f;
    to[c] = c < plan.channels ? one : 0.0f;
  }
}

/// Asks for what lies `ahead` bytes behind an address; any address will do.
ATTN_FN void prefetch(const void* from, std::intptr_t ahead) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::intptr_t>(from) + ahead));
}

/// Bytes from a group of rows to the next; a guess where pages end.
template <class T>
ATTN_FN std::intptr_t bytes_ahead(const T* const* rows, int count) {
  if (count <= kLanes) return 0;
  return reinterpret_cast<std::intptr_t>(rows[kLanes]) - reinterpret_cast<std::intptr_t>(rows[0]);
}

/// Lane i is the sum over the channels of term(key i's channels, channel, sum so far).
template <bool kPrefetch = false, class T, class Term>
ATTN_FN Lane sum_channels(const T* const* keys, int channels, const Term& term, std::intptr_t ahead = 0) {
  Lane sums[kLanes];
#pragma GCC unroll 2
  for (int first = 0; first < kLanes; first += kAtOnce) {
    const T* rows[kAtOnce];
    Lane sum[kAtOnce];
#pragma GCC unroll 8
    for (int i = 0; i < kAtOnce; ++i) {
      rows[i] = keys[first + i];
      sum[i] = Lane(0.0f);
    }
    int c = 0;
    for (; c + kLanes <= channels; c += kLanes) {
#pragma GCC unroll 8
      for (int i = 0; i < kAtOnce; ++i) {
        if constexpr (kPrefetch) prefetch(rows[i] + c, ahead);
        sum[i] = term(Lane::load(rows[i] + c), c, sum[i]);
      }
    }
    if (c < channels) {
#pragma GCC unroll 8
      for (int i = 0; i < kAtOnce; ++i)
        sum[i] = term(Lane::load(rows[i] + c, channels - c), c, sum[i]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kAtOnce; ++i) sums[first + i] = sum[i];
  }
  return sum_each(sums);
}

template <bool kPrefetch = false, class T>
ATTN_FN Lane dot_keys(const T* const* keys, int channels, const float* q, std::intptr_t ahead = 0) {
  return sum_channels<kPrefetch>(keys, channels, [&](Lane k, int c, Lane sum) ATTN_LAMBDA {
    return multiply_add(Lane::load(q + c), k, sum);
  }, ahead);
}
template <class T>
ATTN_FN Lane distance_keys(const T* const* keys, int channels, const float* q, const float* w) {
  const Lane squares = sum_channels(keys, channels, [&](Lane k, int c, Lane sum) ATTN_LAMBDA {
    const Lane apart = negative_multiply_add(k, Lane::load(w + c), Lane::load(q + c));
    return multiply_add(apart, apart, sum);
  });
  return squares * Lane(-0.5f);
}
template <class T>
ATTN_FN Lane additive_keys(const T* const* keys, int channels, const float* q, const float* w) {
  return sum_channels(keys, channels, [&](Lane k, int c, Lane sum) ATTN_LAMBDA {
    return multiply_add(Lane::load(w + c), tanh(Lane::load(q + c) + k), sum);
  });
}
/// 1 / |key|, or 0 where a key has no direction.
template <class T>
ATTN_FN Lane inverse_norms(const T* const* keys, int channels) {
  const Lane squares = sum_channels(
      keys, channels,
      [&](Lane k, int, Lane sum) ATTN_LAMBDA { return multiply_add(k, k, sum); });
  const Lane norm = sqrt(squares);
  return select(norm <= Lane(kNoDirection), Lane(0.0f), Lane(1.0f) / norm);
}
template <class T>
ATTN_FN Lane first_channels(const T* const* keys) {
  float numbers[kLanes];
  for (int i = 0; i < kLanes; ++i) numbers[i] = static_cast<float>(keys[i][0]);
  return Lane::load(numbers);
}

/// s [rows, count rounded up to a vector]: kLanes keys at a time meet all queries while they
/// are in the first cache.
template <class T>
[[gnu::noinline]] void score_rows(Similarity similarity, const DirectQueries& q,
                                  const T* const* keys, int count, float* s,
                                  std::int64_t stride) {
  const auto for_all = [&](const auto& score) ATTN_LAMBDA {
    for (int j = 0; j < count; j += kLanes)
      for (int r = 0; r < q.rows; ++r)
        score(keys + j, q.data + r * q.stride).store(s + r * stride + j);
  };
  const int channels = q.channels;
  switch (similarity) {
    case Similarity::dot:
      {
      const auto ahead = bytes_ahead(keys, count);
      for (int j = 0; j < count; j += kLanes) {
        dot_keys<true>(keys + j, channels, q.data, ahead).store(s + j);
        for (int r = 1; r < q.rows; ++r)
          dot_keys(keys + j, channels, q.data + r * q.stride).store(s + r * stride + j);
      }
      }
      break;
    case Similarity::cosine:
      for (int j = 0; j < count; j += kLanes) {
        const Lane inverse = inverse_norms(keys + j, channels);
        for (int r = 0; r < q.rows; ++r)
          (dot_keys(keys + j, channels, q.data + r * q.stride) * inverse).store(s + r * stride + j);
      }
      break;
    case Similarity::distance:
      for_all([&](const T* const* k, const float* row) ATTN_LAMBDA {
        return distance_keys(k, channels, row, q.weights);
      });
      break;
    case Similarity::additive:
      for_all([&](const T* const* k, const float* row) ATTN_LAMBDA {
        return additive_keys(k, channels, row, q.weights);
      });
      break;
    case Similarity::sum:
      for_all([&](const T* const* k, const float* row) ATTN_LAMBDA {
        return first_channels(k) + Lane(row[0]);
      });
      break;
    case Similarity::given:
      for_all([](const T* const*, const float*) ATTN_LAMBDA { return Lane(0.0f); });
      break;
  }
}

/// kRows rows of out += their weights of kKeys keys * those keys' values.
template <int kR, int kKeys, bool kPrefetch = false, class T>
ATTN_FN void add_values(const T* const* values, int channels, const float* w,
                        std::int64_t w_stride, float* out, std::int64_t out_stride, std::intptr_t ahead = 0) {
  const T* rows[kKeys];
  Lane weight[kR][kKeys];
#pragma GCC unroll 8
  for (int i = 0; i < kKeys; ++i) {
    rows[i] = values[i];
#pragma GCC unroll 2
    for (int r = 0; r < kR; ++r) weight[r][i] = Lane(w[r * w_stride + i]);
  }
  const auto add = [&](int c, const auto& load) ATTN_LAMBDA {
    Lane sum[kR];
#pragma GCC unroll 2
    for (int r = 0; r < kR; ++r) sum[r] = Lane::load(out + r * out_stride + c);
#pragma GCC unroll 8
    for (int i = 0; i < kKeys; ++i) {
      if constexpr (kPrefetch) prefetch(rows[i] + c, ahead);
      const Lane x = load(rows[i] + c);
#pragma GCC unroll 2
      for (int r = 0; r < kR; ++r) sum[r] = multiply_add(weight[r][i], x, sum[r]);
    }
#pragma GCC unroll 2
    for (int r = 0; r < kR; ++r) sum[r].store(out + r * out_stride + c);
  };
  int c = 0;
  for (; c + kLanes <= channels; c += kLanes)
    add(c, [](const T* from) ATTN_LAMBDA { return Lane::load(from); });
  if (c < channels)
    add(c, [&](const T* from) ATTN_LAMBDA { return Lane::load(from, channels - c); });
}

/// The same key by key, leaving out those of weight zero: what they hold may not be finite, and
/// need not even be read.
template <class T>
ATTN_FN void add_kept(const T* const* values, int count, int channels, const float* w,
                      float* out) {
  for (int i = 0; i < count; ++i)
    if (w[i] != 0.0f) add_values<1, 1>(values + i, channels, w + i, 0, out, 0);
}

ATTN_FN bool any_zero(const float* w) { return any(Lane::load(w) == Lane(0.0f)); }

/// One row of out += weights [count] * values.
template <class T>
ATTN_FN void pool_group(const T* const* values, int count, int channels, const float* w,
                        float* out, std::intptr_t ahead) {
  if (count < kLanes || any_zero(w)) return add_kept(values, count, channels, w, out);
#pragma GCC unroll 2
  for (int i = 0; i < kLanes; i += kAtOnce)
    add_values<1, kAtOnce, true>(values + i, channels, w + i, 0, out, 0, ahead);
}

/// out [rows, out_stride] += weights [rows, stride] * values [count].
template <class T>
[[gnu::noinline]] void pool_rows(const T* const* values, int count, int channels, int rows,
                                 const float* w, std::int64_t stride, float* out,
                                 std::int64_t out_stride) {
  const auto ahead = bytes_ahead(values, count);
  for (int j = 0; j < count; j += kLanes) {
    const int keys = count - j < kLanes ? count - j : kLanes;
    int r = 0;
    // Two rows use each value that is loaded; 2 x 4 weights, 2 sums and a value are in registers.
    for (; r + 2 <= rows; r += 2) {
      const float* weights = w + r * stride + j;
      float* to = out + r * out_stride;
      if (keys < kLanes || any_zero(weights) || any_zero(weights + stride)) {
        add_kept(values + j, keys, channels, weights, to);
        add_kept(values + j, keys, channels, weights + stride, to + out_stride);
        continue;
      }
      for (int i = 0; i < kLanes; i += 4)
        add_values<2, 4>(values + j + i, channels, weights + i, stride, to, out_stride);
    }
    if (r < rows)
      pool_group(values + j, keys, channels, w + r * stride + j, out + r * out_stride, ahead);
  }
}

}  // namespace attn::cpu::inline ATTN_TARGET
