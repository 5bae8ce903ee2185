/// Scores and pooling of keys where they lie: lanes run along the channels.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/lane_math.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/packed/pack.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/similarity.hpp"
#include "kernels/cpu/transpose.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// Rows whose addresses and sums fit the registers together.
inline constexpr int kAtOnce = kLanes < 8 ? kLanes : 8;

/// Keys that several rows of scores share: read once, in order, into the first cache (16 KiB at
/// 128 channels), where the reuse is.
inline constexpr int kGroupKeys = 32;

/// The queries of a group of heads, prepared.
struct DecodeQueries {
  const float* data;  ///< [rows, stride], zeros past the channels
  std::int64_t stride;
  int rows;
  int channels;
  const float* weights;  ///< of the similarity [stride], zeros past the channels
};

/// The similarity's weights as a row, ones where there are none.
ATTN_FN void read_weights(const Plan& plan, int kv_head, float* to, std::int64_t stride) {
  for (int c = 0; c < stride; ++c) to[c] = c < plan.channels ? 1.0f : 0.0f;
  if (plan.weights.data == nullptr) return;
  const float* w = weights_of(plan, kv_head);
  for (int c = 0; c < plan.channels; ++c) to[c] = w[c * plan.weights.strides[3]];
}

/// Calls visit(j, address of row first + j) for `count` rows.
template <class T, class Visit>
ATTN_FN void for_each_row(const Rows<T>& rows, int first, int count, const Visit& visit) {
  for (int j = 0; j < count;) {
    const int even = static_cast<int>(rows.even(first + j, count - j));
    T* row = rows.at(first + j);
    for (int i = 0; i < even; ++i, row += rows.row) visit(j + i, row);
    j += even;
  }
}

/// How far ahead of the rows that are read memory is asked for. 16-bit rows of 128 channels,
/// one thread of a busy AVX2 machine, as a share of a plain sum over the same bytes: 84 to 88 %
/// without, 96 to 99 % at 1 KiB, 87 to 107 % at 4 KiB. The runs do not tell the last two apart.
inline constexpr std::uintptr_t kAheadBytes = 4096;

/// Asks for the lines behind a row. A guess where pages end or rows lie apart; an address
/// without memory is no fault.
template <class T>
ATTN_FN void prefetch_ahead(const T* row, int channels) {
  const auto begin = reinterpret_cast<std::uintptr_t>(row) + kAheadBytes;
  const auto bytes = static_cast<std::uintptr_t>(channels) * sizeof(T);
  // A number and not a pointer, which must not go past its array.
  for (std::uintptr_t b = 0; b < bytes; b += 64)
    __builtin_prefetch(
        reinterpret_cast<const void*>(begin + b));  // NOLINT(performance-no-int-to-ptr)
}

/// In each lane a share of q . k. One key after the other: memory is read in order, which is
/// worth more than sharing the loads of q (fp32, 128 channels, one thread: 98 % of the read
/// bandwidth; two keys at once 77 %, eight 63 %). Four sums hide the latency.
template <class T>
ATTN_FN Lane dot_shares(const T* k, const float* q, int channels) {
  Lane sum[4] = {Lane(0.0f), Lane(0.0f), Lane(0.0f), Lane(0.0f)};
  int c = 0;
  for (; c + 4 * kLanes <= channels; c += 4 * kLanes) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
      sum[i] =
          multiply_add(Lane::load(q + c + i * kLanes), Lane::load(k + c + i * kLanes), sum[i]);
  }
  for (; c + kLanes <= channels; c += kLanes)
    sum[0] = multiply_add(Lane::load(q + c), Lane::load(k + c), sum[0]);
  if (c < channels)
    sum[1] = multiply_add(Lane::load(q + c), Lane::load(k + c, channels - c), sum[1]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// s [count rounded up to a vector] = q . k for one query and keys in place.
template <class T>
ATTN_FN void dot_in_place(const Rows<T>& keys, int first, int count, int channels,
                          const float* q, float* s) {
  Lane shares[kLanes];
  for_each_row(keys, first, count, [&](int j, const T* k) ATTN_LAMBDA {
    prefetch_ahead(k, channels);
    shares[j % kLanes] = dot_shares(k, q, channels);
    if (j % kLanes == kLanes - 1) sum_each(shares).store(s + j + 1 - kLanes);
  });
  if (count % kLanes == 0) return;
  for (int i = count % kLanes; i < kLanes; ++i) shares[i] = Lane(0.0f);
  sum_each(shares).store(s + count / kLanes * kLanes);
}

/// Lane i is the sum over the channels of term(row i's channels, channel, sum so far).
template <class Term>
ATTN_FN Lane sum_channels(const float* rows, std::int64_t stride, int channels,
                          const Term& term) {
  Lane sums[kLanes];
#pragma GCC unroll 2
  for (int first = 0; first < kLanes; first += kAtOnce) {
    Lane sum[kAtOnce];
#pragma GCC unroll 8
    for (int i = 0; i < kAtOnce; ++i) sum[i] = Lane(0.0f);
    for (int c = 0; c < channels; c += kLanes) {
#pragma GCC unroll 8
      for (int i = 0; i < kAtOnce; ++i)
        sum[i] = term(Lane::load(rows + (first + i) * stride + c), c, sum[i]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kAtOnce; ++i) sums[first + i] = sum[i];
  }
  return sum_each(sums);
}

ATTN_FN Lane dot_keys(const float* k, std::int64_t stride, int channels, const float* q) {
  return sum_channels(k, stride, channels, [&](Lane x, int c, Lane sum) ATTN_LAMBDA {
    return multiply_add(Lane::load(q + c), x, sum);
  });
}
ATTN_FN Lane distance_keys(const float* k, std::int64_t stride, int channels, const float* q,
                           const float* w) {
  const Lane squares =
      sum_channels(k, stride, channels, [&](Lane x, int c, Lane sum) ATTN_LAMBDA {
        const Lane apart = negative_multiply_add(x, Lane::load(w + c), Lane::load(q + c));
        return multiply_add(apart, apart, sum);
      });
  return squares * Lane(-0.5f);
}
ATTN_FN Lane additive_keys(const float* k, std::int64_t stride, int channels, const float* q,
                           const float* w) {
  return sum_channels(k, stride, channels, [&](Lane x, int c, Lane sum) ATTN_LAMBDA {
    return multiply_add(Lane::load(w + c), tanh(Lane::load(q + c) + x), sum);
  });
}
/// 1 / |key|, or 0 where a key has no direction.
ATTN_FN Lane inverse_norms(const float* k, std::int64_t stride, int channels) {
  const Lane norm =
      sqrt(sum_channels(k, stride, channels, [&](Lane x, int, Lane sum) ATTN_LAMBDA {
        return multiply_add(x, x, sum);
      }));
  return select(norm <= Lane(kNoDirection), Lane(0.0f), Lane(1.0f) / norm);
}
ATTN_FN Lane first_channels(const float* k, std::int64_t stride) {
  float numbers[kLanes];
  for (int i = 0; i < kLanes; ++i) numbers[i] = k[i * stride];
  return Lane::load(numbers);
}

/// s [rows, count rounded up to a vector] = similarities of queries and fp32 keys [count,
/// stride], zeros past the channels; memory holds kGroupKeys of them.
[[gnu::noinline]] inline void score_group(Similarity similarity, const DecodeQueries& q,
                                          const float* keys, std::int64_t stride, int count,
                                          float* s, std::int64_t s_stride) {
  const int channels = q.channels;
  for (int j = 0; j < count; j += kLanes) {
    const float* k = keys + j * stride;
    const auto for_all = [&](const auto& score) ATTN_LAMBDA {
      for (int r = 0; r < q.rows; ++r) score(q.data + r * q.stride).store(s + r * s_stride + j);
    };
    switch (similarity) {
      case Similarity::dot:
        for_all([&](const float* x) ATTN_LAMBDA { return dot_keys(k, stride, channels, x); });
        break;
      case Similarity::cosine: {
        const Lane inverse = inverse_norms(k, stride, channels);
        for_all([&](const float* x)
                    ATTN_LAMBDA { return dot_keys(k, stride, channels, x) * inverse; });
        break;
      }
      case Similarity::distance:
        for_all([&](const float* x)
                    ATTN_LAMBDA { return distance_keys(k, stride, channels, x, q.weights); });
        break;
      case Similarity::additive:
        for_all([&](const float* x)
                    ATTN_LAMBDA { return additive_keys(k, stride, channels, x, q.weights); });
        break;
      case Similarity::sum:
        for_all([&](const float* x)
                    ATTN_LAMBDA { return first_channels(k, stride) + Lane(x[0]); });
        break;
      case Similarity::given:
        for_all([](const float*) ATTN_LAMBDA { return Lane(0.0f); });
        break;
    }
  }
}

/// out += w * v for one key.
template <class T>
ATTN_FN void add_value(const T* v, int channels, float w, float* out) {
  const Lane by(w);
  int c = 0;
  for (; c + kLanes <= channels; c += kLanes)
    multiply_add(by, Lane::load(v + c), Lane::load(out + c)).store(out + c);
  if (c < channels)
    multiply_add(by, Lane::load(v + c, channels - c), Lane::load(out + c)).store(out + c);
}

/// out [channels] += w [count] * values in place. A value of weight zero is not looked at: it
/// may not be finite.
template <class T>
ATTN_FN void pool_in_place(const Rows<T>& values, int first, int count, int channels,
                           const float* w, float* out) {
  for_each_row(values, first, count, [&](int j, const T* v) ATTN_LAMBDA {
    prefetch_ahead(v, channels);
    if (w[j] != 0.0f) add_value(v, channels, w[j], out);
  });
}

/// Whether any weight of [rows, count] is zero.
ATTN_FN bool any_zero(const float* w, std::int64_t stride, int rows, int count) {
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < count; ++j)
      if (w[r * stride + j] == 0.0f) return true;
  return false;
}

/// Clears the values of keys that no row gives weight.
ATTN_FN void clear_unweighed(float* values, std::int64_t stride, int count, int rows,
                             const float* w, std::int64_t w_stride) {
  for (int j = 0; j < count; ++j) {
    bool weighed = false;
    for (int r = 0; r < rows; ++r) weighed = weighed || w[r * w_stride + j] != 0.0f;
    for (std::int64_t c = 0; c < stride && !weighed; ++c) values[j * stride + c] = 0.0f;
  }
}

/// out [rows, out_stride] += w [rows, w_stride] * fp32 values [count, stride]. What is
/// multiplied by zero may not be finite: values of no weight are cleared, and those that only
/// some rows leave out are skipped row by row.
[[gnu::noinline]] inline void pool_group(float* values, std::int64_t stride, int count,
                                         int channels, int rows, const float* w,
                                         std::int64_t w_stride, float* out,
                                         std::int64_t out_stride) {
  bool finite = true;
  if (any_zero(w, w_stride, rows, count) && !all_finite(values, stride, count, channels)) {
    clear_unweighed(values, stride, count, rows, w, w_stride);
    finite = all_finite(values, stride, count, channels);
  }
  multiply(true, finite, rows, round_up(channels, kLanes), count, {w, w_stride, 1},
           {values, stride}, out, out_stride);
}

}  // namespace attn::cpu::inline ATTN_TARGET
