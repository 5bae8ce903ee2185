/// Additive scores: s = sum over c of w_c tanh(q_c + k_c), tile by tile.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/lane_math.hpp"
#include "kernels/cpu/gemm.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// s [rows, cols] from rows of q and panels [channels, kPanel] of keys.
[[gnu::noinline]] inline void additive_scores(int rows, int cols, int channels, const float* q,
                                              std::int64_t q_stride, const float* panels,
                                              const float* w, float* s, std::int64_t s_stride) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; c += kLanes) {
      const float* panel = panels + static_cast<std::int64_t>(c / kPanel) * kPanel * channels +
                           c % kPanel;
      Lane sum(0.0f);
      for (int x = 0; x < channels; ++x)
        sum = multiply_add(Lane(w[x]), tanh(Lane(q[r * q_stride + x]) + Lane::load(panel + x * kPanel)),
                           sum);
      sum.store(s + r * s_stride + c);
    }
}

/// Given ds [rows, cols]: writes dq [rows, channels], adds to dk [keys, channels] and dw.
[[gnu::noinline]] inline void additive_backward(int rows, int cols, int channels, const float* q,
                                                std::int64_t q_stride, const float* panels,
                                                const float* w, const float* ds,
                                                std::int64_t ds_stride, float* dq,
                                                std::int64_t dq_stride, float* dk,
                                                std::int64_t dk_stride, int keys, float* dw) {
  for (int r = 0; r < rows; ++r)
    for (int x = 0; x < channels; ++x) {
      Lane dq_sum(0.0f);
      Lane dw_sum(0.0f);
      for (int c = 0; c < cols; c += kLanes) {
        const float* panel = panels + static_cast<std::int64_t>(c / kPanel) * kPanel * channels +
                             c % kPanel;
        const Lane t = tanh(Lane(q[r * q_stride + x]) + Lane::load(panel + x * kPanel));
        const Lane up = Lane::load(ds + r * ds_stride + c);
        const Lane down = up * Lane(w[x]) * (1.0f - t * t);
        dq_sum += down;
        dw_sum = multiply_add(up, t, dw_sum);
        float lanes[kLanes];
        down.store(lanes);
        for (int j = 0; j < kLanes && c + j < keys; ++j) dk[(c + j) * dk_stride + x] += lanes[j];
      }
      dq[r * dq_stride + x] = reduce_sum(dq_sum);
      dw[x] += reduce_sum(dw_sum);
    }
}

}  // namespace attn::cpu::inline ATTN_TARGET
