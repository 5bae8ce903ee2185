/// Additive scores of a tile.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/lane_math.hpp"
#include "attn/kernels/cpu/target.hpp"
#include "kernels/cpu/additive/additive.hpp"
#include "kernels/cpu/gemm.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// Queries and channels taken at a time: 6 KiB of exponentials and 4 KiB of a panel stay in L1.
inline constexpr int kAdditiveQueries = 24;
inline constexpr int kAdditiveChannels = 64;
/// Queries that share the loads of a vector of keys. The sums' chains are short beside the work
/// of a step, so that more rows gain nothing.
inline constexpr int kAdditiveRows = 4;

/// What one step of the channels needs: -2 w of each, and the sum of w to start from.
struct AdditiveWeights {
  float minus_twice[kAdditiveChannels];
  float total;

  ATTN_FN void read(const float* w, std::int64_t step, int channels) {
    double sum = 0.0;
    for (int c = 0; c < channels; ++c) {
      const float x = w[c * step];
      minus_twice[c] = -2.0f * x;
      sum += static_cast<double>(x);
    }
    total = static_cast<float>(sum);
  }
};

/// s[r] += total - 2 sum over c of w_c r_c for one vector of keys, with one quotient for two
/// channels: w1 / d1 + w2 / d2 = (w1 d2 + w2 d1) / (d1 d2).
template <int kR, AdditiveRange kRange>
ATTN_FN void additive_rows(int channels, const float* exps, const float* panel,
                           const AdditiveWeights& weights, bool first, float* s,
                           std::int64_t s_stride) {
  const float* w = weights.minus_twice;
  Lane sum[kR];
#pragma GCC unroll 8
  for (int r = 0; r < kR; ++r) sum[r] = first ? Lane(0.0f) : Lane::load(s + r * s_stride);
#pragma GCC unroll 8
  for (int r = 0; r < kR; ++r) sum[r] += weights.total;
  int c = 0;
#pragma GCC unroll 1
  for (; c + 2 <= channels; c += 2) {
    const Lane b1 = Lane::load(panel + c * kPanel);
    const Lane b2 = Lane::load(panel + (c + 1) * kPanel);
#pragma GCC unroll 8
    for (int r = 0; r < kR; ++r) {
      const Lane d1 = additive_divisor<kRange>(exps[r * kAdditiveChannels + c], b1);
      const Lane d2 = additive_divisor<kRange>(exps[r * kAdditiveChannels + c + 1], b2);
      const Lane numerator = multiply_add(w[c], d2, w[c + 1] * d1);
      if constexpr (kDivides) {
        sum[r] += numerator / (d1 * d2);
      } else {
        sum[r] = multiply_add(numerator, reciprocal(d1 * d2), sum[r]);
      }
    }
  }
  if (c < channels) {
    const Lane b = Lane::load(panel + c * kPanel);
#pragma GCC unroll 8
    for (int r = 0; r < kR; ++r) {
      const Lane d = additive_divisor<kRange>(exps[r * kAdditiveChannels + c], b);
      sum[r] = multiply_add(w[c], additive_inverse(d), sum[r]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kR; ++r) sum[r].store(s + r * s_stride);
}

/// The same for the rows that are left over.
template <AdditiveRange kRange, int kR = kAdditiveRows>
ATTN_FN void additive_some_rows(int rows, int channels, const float* exps, const float* panel,
                                const AdditiveWeights& weights, bool first, float* s,
                                std::int64_t s_stride) {
  if constexpr (kR > 0) {
    if (rows == kR) {
      additive_rows<kR, kRange>(channels, exps, panel, weights, first, s, s_stride);
    } else {
      additive_some_rows<kRange, kR - 1>(rows, channels, exps, panel, weights, first, s,
                                         s_stride);
    }
  }
}

/// Any number of rows.
template <AdditiveRange kRange>
[[gnu::noinline]] void additive_vector(int rows, int channels, const float* exps,
                                       const float* panel, const AdditiveWeights& weights,
                                       bool first, float* s, std::int64_t s_stride) {
  for (int r = 0; r < rows; r += kAdditiveRows)
    additive_some_rows<kRange>(min(kAdditiveRows, rows - r), channels,
                               exps + r * kAdditiveChannels, panel, weights, first,
                               s + r * s_stride, s_stride);
}

/// The same for a vector with keys that are no exponentials.
[[gnu::noinline]] inline void additive_checked_vector(int rows, int channels, const float* q,
                                                      std::int64_t q_stride, const float* exps,
                                                      const float* panel, LaneMask raw,
                                                      const AdditiveWeights& weights,
                                                      bool first, float* s,
                                                      std::int64_t s_stride) {
  for (int r = 0; r < rows; ++r) {
    Lane sum(weights.total);
    if (!first) sum += Lane::load(s + r * s_stride);
    for (int c = 0; c < channels; ++c)
      sum = multiply_add(weights.minus_twice[c],
                         additive_checked(q[r * q_stride + c], exps[r * kAdditiveChannels + c],
                                          Lane::load(panel + c * kPanel), raw),
                         sum);
    sum.store(s + r * s_stride);
  }
}

/// s [rows, cols] from rows of queries, whole vectors each, and panels
/// [additive_depth(channels), kPanel] of prepared keys; w has `w_step` floats between channels
/// and |w| < 2^60. The error measured at spreads from 0.1 to 30 is below 2e-7 of the sum of |w|
/// (AVX2).
[[gnu::noinline]] inline void additive_scores(int rows, int cols, int channels, const float* q,
                                              std::int64_t q_stride, Panels panels,
                                              const float* w, std::int64_t w_step, float* s,
                                              std::int64_t s_stride) {
  AdditiveQueries<kAdditiveQueries, kAdditiveChannels> queries;
  AdditiveWeights weights;
  for (int c = 0; c < channels; c += kAdditiveChannels) {
    const int depth = min(kAdditiveChannels, channels - c);
    weights.read(w + c * w_step, w_step, depth);
    for (int r = 0; r < rows; r += kAdditiveQueries) {
      const int count = min(kAdditiveQueries, rows - r);
      const float* raw_q = q + r * q_stride + c;
      queries.read(count, depth, raw_q, q_stride);
      for (int j = 0; j < cols; j += kLanes) {
        const float* all = panels.from(j, additive_depth(channels)).data;
        const Lane tops = Lane::load(all + channels * kPanel);
        const float* panel = all + c * kPanel;
        float* to = s + r * s_stride + j;
        const float top = reduce_max(tops);
        if (top > kKeyLimit) {
          additive_checked_vector(count, depth, raw_q, q_stride, queries.exps[0], panel,
                                  tops > kKeyLimit, weights, c == 0, to, s_stride);
        } else if (queries.top + top <= kNarrowSum) {
          additive_vector<AdditiveRange::narrow>(count, depth, queries.exps[0], panel, weights,
                                                 c == 0, to, s_stride);
        } else {
          additive_vector<AdditiveRange::wide>(count, depth, queries.exps[0], panel, weights,
                                               c == 0, to, s_stride);
        }
      }
    }
  }
  if (channels == 0)
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < cols; j += kLanes) Lane(0.0f).store(s + r * s_stride + j);
}

}  // namespace attn::cpu::inline ATTN_TARGET
