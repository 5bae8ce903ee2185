/// Gradients of a tile of additive scores: with r = 1 / (1 + e^2(q+k)), tanh = 1 - 2 r and
/// 1 - tanh^2 = 4 r (1 - r).

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/target.hpp"
#include "kernels/cpu/additive/additive.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/transpose.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// Channels at a time, so that with 256 keys the panels and their gradients, 16 KiB each, stay
/// near while the rows pass by; a multiple of every vector. 8 were no faster on Zen 3.
inline constexpr int kAdditiveSlice = 16;
/// Rows and channels whose sums are in registers. A step has seven operations and takes 3.8
/// cycles a vector on Zen 3, 3.4 of them the divider's; one quotient for two channels, at eight
/// operations, was 10 % slower.
inline constexpr int kAdditiveBackRows = 2;
inline constexpr int kAdditiveBackChannels = 2;

/// What a pass over one slice of channels and a few queries reads and adds to.
struct AdditiveSlice {
  int first;  ///< column of the first panel
  int cols;   ///< from there on
  std::int64_t panel_stride;
  const float* panels;  ///< at the slice's first channel
  const float* tops;    ///< of the keys, in the panels
  float* dk;            ///< like panels; the factor 4 w is left out
  const float* ds;
  std::int64_t ds_stride;
  const float* q;
  std::int64_t q_stride;
  const float* exps;        ///< [queries, kAdditiveSlice]
  Lane dw[kAdditiveSlice];  ///< sums of dS r
};

/// Rows [row, row + kR) and channels [channel, channel + kC) of a slice against all keys: adds
/// to dk and dw and leaves the vectors whose lanes sum to dq / 4 w.
template <int kR, int kC, AdditiveRange kRange>
ATTN_FN void additive_backward_block(AdditiveSlice& slice, int row, int channel,
                                     Lane (*dq)[kAdditiveSlice]) {
  Lane dq_sum[kR][kC];
  Lane dw_sum[kC];
#pragma GCC unroll 4
  for (int c = 0; c < kC; ++c) {
    dw_sum[c] = slice.dw[channel + c];
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) dq_sum[r][c] = Lane(0.0f);
  }
  // Copies: what a store to dk may alias would be read again at every step.
  const int end = slice.first + slice.cols;
  const std::int64_t panel_stride = slice.panel_stride;
  const std::int64_t ds_stride = slice.ds_stride;
  const std::int64_t q_stride = slice.q_stride;
  const float* panel = slice.panels + channel * kPanel;
  const float* tops = slice.tops;
  float* dk = slice.dk + channel * kPanel;
  const float* ds = slice.ds + row * ds_stride - slice.first;
  const float* exps = slice.exps + row * kAdditiveSlice + channel;
  const float* q = slice.q + row * q_stride + channel;

  const auto vector = [&](int v) ATTN_LAMBDA {
    Lane k[kC];
    Lane dk_sum[kC];
#pragma GCC unroll 4
    for (int c = 0; c < kC; ++c) {
      k[c] = Lane::load(panel + c * kPanel + v);
      dk_sum[c] = Lane::load(dk + c * kPanel + v);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) {
      const Lane up = Lane::load(ds + r * ds_stride + v);
#pragma GCC unroll 4
      for (int c = 0; c < kC; ++c) {
        const float exp_q = exps[r * kAdditiveSlice + c];
        Lane gap;
        if constexpr (kRange == AdditiveRange::checked) {
          gap = additive_checked(q[r * q_stride + c], exp_q, k[c],
                                 Lane::load(tops + v) > kKeyLimit);
          // No gradient comes from a score without one, whatever its slope is.
          gap = select(up == Lane(0.0f), Lane(0.0f), gap);
        } else {
          gap = additive_inverse(additive_divisor<kRange>(exp_q, k[c]));
        }
        const Lane part = up * gap;
        const Lane down = negative_multiply_add(part, gap, part);
        dw_sum[c] += part;
        dq_sum[r][c] += down;
        dk_sum[c] += down;
      }
    }
#pragma GCC unroll 4
    for (int c = 0; c < kC; ++c) dk_sum[c].store(dk + c * kPanel + v);
  };
  int j = 0;
  int v = slice.first;
#pragma GCC unroll 1
  for (; j + kPanel <= end; j += kPanel) {
#pragma GCC unroll 1
    for (; v < kPanel; v += kLanes) vector(v);
    v = 0;
    panel += panel_stride;
    tops += panel_stride;
    dk += panel_stride;
    ds += kPanel;
  }
  for (; j + v < end; v += kLanes) vector(v);
#pragma GCC unroll 4
  for (int c = 0; c < kC; ++c) {
    slice.dw[channel + c] = dw_sum[c];
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) dq[r][channel + c] = dq_sum[r][c];
  }
}

/// All channels of a slice for kR rows.
template <int kR, AdditiveRange kRange>
ATTN_FN void additive_backward_rows(AdditiveSlice& slice, int row, int channels,
                                    Lane (*dq)[kAdditiveSlice]) {
  int c = 0;
  for (; c + kAdditiveBackChannels <= channels; c += kAdditiveBackChannels)
    additive_backward_block<kR, kAdditiveBackChannels, kRange>(slice, row, c, dq);
  for (; c < channels; ++c) additive_backward_block<kR, 1, kRange>(slice, row, c, dq);
}

/// All rows and channels of a slice; writes dq [rows, kAdditiveSlice] = factor * sums.
template <AdditiveRange kRange>
[[gnu::noinline]] void additive_backward_slice(AdditiveSlice& slice, int rows, int channels,
                                               const float* factor, float* dq,
                                               std::int64_t dq_stride) {
  Lane sums[kAdditiveBackRows][kAdditiveSlice];
  for (int r = 0; r < kAdditiveBackRows; ++r)
    for (int c = 0; c < kAdditiveSlice; ++c) sums[r][c] = Lane(0.0f);
  for (int r = 0; r < rows; r += kAdditiveBackRows) {
    const int count = min(kAdditiveBackRows, rows - r);
    if (count == kAdditiveBackRows) {
      additive_backward_rows<kAdditiveBackRows, kRange>(slice, r, channels, sums);
    } else {
      for (int i = 0; i < count; ++i)
        additive_backward_rows<1, kRange>(slice, r + i, channels, sums + i);
    }
    for (int i = 0; i < count; ++i)
      for (int c = 0; c < channels; c += kLanes) {
        Lane each[kLanes];
#pragma GCC unroll 16
        for (int x = 0; x < kLanes; ++x) each[x] = sums[i][c + x];
        (sum_each(each) * Lane::load(factor + c)).store(dq + (r + i) * dq_stride + c);
      }
  }
}

/// Given ds [rows, cols], whose keys begin in column `first` of the first panel: writes
/// dq [rows, channels], whole vectors each, and adds to dw and to dk, which lies in panels like
/// the keys and waits for additive_key_rows().
[[gnu::noinline]] inline void additive_backward(int rows, int cols, int channels,
                                                const float* q, std::int64_t q_stride,
                                                const float* panels, int first, const float* w,
                                                std::int64_t w_step, const float* ds,
                                                std::int64_t ds_stride, float* dq,
                                                std::int64_t dq_stride, float* dk, float* dw) {
  constexpr int kQueries = 24;
  AdditiveQueries<kQueries, kAdditiveSlice> queries;
  AdditiveSlice slice;
  slice.first = first;
  slice.cols = cols;
  slice.panel_stride = static_cast<std::int64_t>(kPanel) * additive_depth(channels);
  slice.tops = panels + channels * kPanel;
  slice.ds_stride = ds_stride;
  slice.q_stride = q_stride;
  slice.exps = queries.exps[0];

  Lane top(0.0f);
  for (int j = first; j < first + cols; j += kLanes)
    top = max(top, Lane::load(slice.tops + j / kPanel * slice.panel_stride + j % kPanel));
  const float key_top = reduce_max(top);
  // dw = sum dS (1 - 2 r)
  Lane total(0.0f);
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < cols; j += kLanes) total += Lane::load(ds + r * ds_stride + j);
  const Lane all(reduce_sum(total));

  for (int c = 0; c < channels; c += kAdditiveSlice) {
    const int count = min(kAdditiveSlice, channels - c);
    float factor[kAdditiveSlice] = {};
    for (int x = 0; x < count; ++x) factor[x] = 4.0f * w[(c + x) * w_step];
    for (int x = 0; x < kAdditiveSlice; ++x) slice.dw[x] = Lane(0.0f);
    slice.panels = panels + c * kPanel;
    slice.dk = dk + c * kPanel;
    for (int r = 0; r < rows; r += kQueries) {
      const int some = min(kQueries, rows - r);
      slice.q = q + r * q_stride + c;
      slice.ds = ds + r * ds_stride;
      queries.read(some, count, slice.q, q_stride);
      float* to = dq + r * dq_stride + c;
      if (key_top > kKeyLimit || queries.nan) {
        additive_backward_slice<AdditiveRange::checked>(slice, some, count, factor, to,
                                                        dq_stride);
      } else if (queries.top + key_top <= kNarrowSum) {
        additive_backward_slice<AdditiveRange::narrow>(slice, some, count, factor, to,
                                                       dq_stride);
      } else {
        additive_backward_slice<AdditiveRange::wide>(slice, some, count, factor, to, dq_stride);
      }
    }
    float sums[kAdditiveSlice];
    for (int x = 0; x < kAdditiveSlice; x += kLanes) {
      Lane each[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) each[i] = slice.dw[x + i];
      (all - 2.0f * sum_each(each)).store(sums + x);
    }
    for (int x = 0; x < count; ++x) dw[c + x] += sums[x];
  }
}

/// Turns panels of dk into rows [keys, stride], whole vectors each, with the factor 4 w.
[[gnu::noinline]] inline void additive_key_rows(const float* panels, int keys, int channels,
                                                const float* w, std::int64_t w_step,
                                                float* rows, std::int64_t stride) {
  for (int c = 0; c < channels; c += kLanes) {
    float factor[kLanes] = {};
    for (int x = 0; x < kLanes && c + x < channels; ++x) factor[x] = 4.0f * w[(c + x) * w_step];
    for (int j = 0; j < keys; j += kLanes) {
      const float* panel =
          panels + static_cast<std::int64_t>(j / kPanel) * kPanel * additive_depth(channels) +
          j % kPanel + c * kPanel;
      Lane square[kLanes];
#pragma GCC unroll 16
      for (int x = 0; x < kLanes; ++x)
        square[x] = c + x < channels ? Lane::load(panel + x * kPanel) * factor[x] : Lane(0.0f);
      transpose(square);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i)
        if (j + i < keys) square[i].store(rows + (j + i) * stride + c);
    }
  }
}

}  // namespace attn::cpu::inline ATTN_TARGET
