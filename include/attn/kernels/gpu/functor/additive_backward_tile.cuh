/// Parts of the backward kernel of additive attention: tiles in shared memory, and the walk of
/// one channel over the pairs of a tile.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/kernels/gpu/functor/additive_scores.cuh"
#include "attn/kernels/gpu/functor/mma.cuh"
#include "attn/kernels/gpu/limits.hpp"

namespace attn::gpu {

/// kSide x kSide scores at a time. kShare lanes make sixteen of them, each from some of the
/// channels, and then have kEach each; groups of 256 threads take 16 queries each, and a thread
/// owns a channel, for which it walks over the keys.
template <int kSide>
struct AdditiveBackwardTile {
  static constexpr int kRows = kSide;
  static constexpr int kGroups = kSide / 16;
  static constexpr int kOwners = 256;  ///< threads of a group
  static constexpr int kThreads = kGroups * kOwners;
  static constexpr int kWarps = kThreads / 32;
  static constexpr int kShare = 256 / kSide;
  static constexpr int kEach = 16 / kShare;      ///< scores of a thread, of one query
  static constexpr int kPairStride = kSide + 8;  ///< of [key, query] tiles

  /// Channels in shared memory, with zeros at the end: a step of kShare lanes is four of each.
  static constexpr int kStep = 4 * kShare;
  static constexpr int padded(int channels) { return (channels + kStep - 1) / kStep * kStep; }
  /// Floats from a row to the next: as the matrix units like it.
  static constexpr int stride(int channels) { return padded(channels) + Mma<float>::kPad; }
  static_assert(stride(1) == kStep + 8 && kPairStride == kSide + 8,
                "additive_backward_shared() knows these sizes too");
  static std::size_t shared_bytes(int channels, int values) {
    return additive_backward_shared(kSide, channels, values);
  }
};

/// The pairs that kShare lanes make together: queries q, q + kStep, q + 2 kStep and q + 3 kStep
/// of the tile, and keys alike. Each lane then has kEach of them: of query own_q, keys key(x).
template <class Tile>
struct SharedPairs {
  static constexpr int kStep = Tile::kRows / 4;
  int share, q, k, own_q, own_k;

  __device__ __forceinline__ SharedPairs() {
    const int place = static_cast<int>(threadIdx.x) / Tile::kShare;
    share = static_cast<int>(threadIdx.x) % Tile::kShare;
    q = place / kStep;
    k = place % kStep;
    own_q = q + share * Tile::kEach / 4 * kStep;
    own_k = k + share * Tile::kEach % 4 * kStep;
  }
  __device__ __forceinline__ int key(int x) const { return own_k + x * kStep; }

  /// Sums over the lanes that share the pairs; own[x] is that of key(x).
  __device__ __forceinline__ void sum(const float (&sums)[4][4],
                                      float (&own)[Tile::kEach]) const {
    float left[16];
#pragma unroll
    for (int x = 0; x < 16; ++x) left[x] = sums[x / 4][x % 4];
    // Every step halves what a lane has; the loops are such that they are unrolled.
#pragma unroll
    for (int step = 1; 16 >> step >= Tile::kEach; ++step) {
      const int count = 16 >> step;
      const int apart = Tile::kShare >> step;
      const bool upper = (share & apart) != 0;
#pragma unroll
      for (int x = 0; x < 8; ++x) {
        if (x >= count) break;
        const float sent = upper ? left[x] : left[x + count];
        const float kept = upper ? left[x + count] : left[x];
        left[x] = kept + __shfl_xor_sync(0xffffffffu, sent, apart);
      }
    }
#pragma unroll
    for (int x = 0; x < Tile::kEach; ++x) own[x] = left[x];
  }
};

/// Products of rows of two tiles for the thread's pairs.
template <class Tile>
__device__ __forceinline__ void shared_dots(const SharedPairs<Tile>& mine, const float* queries,
                                            const float* keys, int stride, int channels,
                                            float (&own)[Tile::kEach]) {
  const float* q_rows = queries + mine.q * stride + mine.share * 4;
  const float* k_rows = keys + mine.k * stride + mine.share * 4;
  const int step = SharedPairs<Tile>::kStep * stride;
  float dots[4][4] = {};
#pragma unroll 2
  for (int u = 0; u < channels; u += Tile::kStep) {
    float4 q[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) q[r] = *reinterpret_cast<const float4*>(q_rows + r * step + u);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const float4 k = *reinterpret_cast<const float4*>(k_rows + c * step + u);
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        float& dot = dots[r][c];
        dot = fmaf(q[r].x, k.x, fmaf(q[r].y, k.y, fmaf(q[r].z, k.z, fmaf(q[r].w, k.w, dot))));
      }
    }
  }
  mine.sum(dots, own);
}

/// What one channel has gathered from 16 queries.
struct ChannelSums {
  float dq[16] = {};  ///< sums of ds r (1 - r)
  float dw = 0.0f;    ///< sum of ds r
};

/// One key against 16 queries of a channel, with their r; returns the sum of ds r (1 - r) that
/// is the key's.
__device__ __forceinline__ float channel_step(const float* ds, const float (&r)[16],
                                              ChannelSums& sums) {
  float dk = 0.0f;
#pragma unroll
  for (int i = 0; i < 16; i += 4) {
    const float4 up = *reinterpret_cast<const float4*>(ds + i);
    const float each[4] = {up.x, up.y, up.z, up.w};
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const float slope = fmaf(-r[i + x], r[i + x], r[i + x]);
      sums.dq[i + x] = fmaf(each[x], slope, sums.dq[i + x]);
      dk = fmaf(each[x], slope, dk);
      sums.dw = fmaf(each[x], r[i + x], sums.dw);
    }
  }
  return dk;
}

/// 16 queries against keys [begin, begin + 16) of the tile for one channel.
template <class Tile>
__device__ __forceinline__ void channel_sums(AdditiveRange range, const float (&q)[16],
                                             const float* exp_k, int stride, int begin,
                                             const float* ds, float* dk, ChannelSums& sums) {
  const float* k_at = exp_k + begin * stride;
  const float* ds_at = ds + begin * Tile::kPairStride;
  float* dk_at = dk + begin * stride;
  const auto each_key = [&](const auto& ratios) {
#pragma unroll 1
    for (int j = 0; j < 16; ++j) {
      float r[16];
      ratios(*k_at, r);
      *dk_at += channel_step(ds_at, r, sums);
      k_at += stride;
      ds_at += Tile::kPairStride;
      dk_at += stride;
    }
  };
  if (range <= AdditiveRange::medium) {
    each_key([&](float k, float(&r)[16]) {
#pragma unroll
      for (int i = 0; i < 16; i += 2) {  // one reciprocal for two
        const float d1 = additive_divisor<false>(q[i], k);
        const float d2 = additive_divisor<false>(q[i + 1], k);
        const float inverse = quick_reciprocal(d1 * d2);
        r[i] = inverse * d2;
        r[i + 1] = inverse * d1;
      }
    });
  } else {
    each_key([&](float k, float(&r)[16]) {
#pragma unroll
      for (int i = 0; i < 16; ++i) r[i] = quick_reciprocal(additive_divisor<false>(q[i], k));
    });
  }
}

}  // namespace attn::gpu
