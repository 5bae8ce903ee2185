/// Parts of the backward kernel of additive attention: tiles in shared memory, and the walk of
/// one channel over the pairs of a tile.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/kernels/gpu/additive_scores.cuh"

namespace attn::gpu {

/// kSide x kSide scores at a time. As 16 columns of threads they make the scores and their
/// gradients; then groups of 256 threads take 16 queries each, and a thread owns a channel, for
/// which it walks over the keys.
template <int kSide>
struct AdditiveBackwardTile {
  static constexpr int kRows = kSide;
  static constexpr int kGroups = kSide / 16;
  static constexpr int kOwners = 256;  ///< threads of a group
  static constexpr int kThreads = kGroups * kOwners;
  static constexpr int kEach = kSide / 16;       ///< scores of a thread, all of one query
  static constexpr int kPairStride = kSide + 4;  ///< of [key, query] tiles

  /// Rows of floats in shared memory, so that 8 of them touch all banks once.
  static constexpr int stride(int channels) { return (channels + 31) / 32 * 32 + 4; }
  static std::size_t shared_bytes(int channels, int values) {
    const int rows = 3 * stride(channels) + 3 * stride(values) + 2 * kPairStride + 2;
    return sizeof(float) * static_cast<std::size_t>(kSide * rows + stride(channels));
  }
};

/// dots[x] of a row and the rows 16 x further of another tile.
template <int kEach>
__device__ __forceinline__ void tile_dots(const float* a, const float* b, int stride,
                                          int channels, float (&dots)[1][kEach]) {
#pragma unroll 4
  for (int u = 0; u < channels; u += 4) {
    const float4 x = *reinterpret_cast<const float4*>(a + u);
#pragma unroll
    for (int c = 0; c < kEach; ++c) {
      const float4 y = *reinterpret_cast<const float4*>(b + 16 * c * stride + u);
      dots[0][c] = fmaf(x.x, y.x, dots[0][c]);
      dots[0][c] = fmaf(x.y, y.y, dots[0][c]);
      dots[0][c] = fmaf(x.z, y.z, dots[0][c]);
      dots[0][c] = fmaf(x.w, y.w, dots[0][c]);
    }
  }
}

/// What one channel has gathered from 16 queries.
struct ChannelSums {
  float dq[16] = {};  ///< sums of ds r (1 - r)
  float dw = 0.0f;    ///< sum of ds r
};

/// One key against 16 queries of a channel; returns the key's sum of ds r (1 - r). `ratio`
/// fills r of two queries.
template <class Ratio>
__device__ __forceinline__ float channel_step(const float* ds, const Ratio& ratio,
                                              ChannelSums& sums) {
  float dk = 0.0f;
#pragma unroll
  for (int i = 0; i < 16; i += 4) {
    const float4 up = *reinterpret_cast<const float4*>(ds + i);
    const float each[4] = {up.x, up.y, up.z, up.w};
#pragma unroll
    for (int x = 0; x < 4; x += 2) {
      float r[2];
      ratio(i + x, r);
#pragma unroll
      for (int y = 0; y < 2; ++y) {
        const float slope = fmaf(-r[y], r[y], r[y]);
        sums.dq[i + x + y] = fmaf(each[x + y], slope, sums.dq[i + x + y]);
        dk = fmaf(each[x + y], slope, dk);
        sums.dw = fmaf(each[x + y], r[y], sums.dw);
      }
    }
  }
  return dk;
}

/// 16 queries against keys [begin, begin + 16) of the tile for one channel.
template <class Tile>
__device__ __forceinline__ void channel_sums(AdditiveRange range, const float (&q)[16],
                                             const float* exp_k, int stride, int begin,
                                             const float* ds, float* dk, ChannelSums& sums) {
  if (range <= AdditiveRange::medium) {
#pragma unroll 2
    for (int j = begin; j < begin + 16; ++j) {
      const float k = exp_k[j * stride];
      dk[j * stride] += channel_step(
          ds + j * Tile::kPairStride,
          [&](int i, float(&r)[2]) {
            const float d1 = additive_divisor<false>(q[i], k);
            const float d2 = additive_divisor<false>(q[i + 1], k);
            const float inverse = quick_reciprocal(d1 * d2);
            r[0] = inverse * d2;
            r[1] = inverse * d1;
          },
          sums);
    }
  } else {
#pragma unroll 1
    for (int j = begin; j < begin + 16; ++j) {
      const float k = exp_k[j * stride];
      dk[j * stride] += channel_step(
          ds + j * Tile::kPairStride,
          [&](int i, float(&r)[2]) {
            r[0] = quick_reciprocal(additive_divisor<false>(q[i], k));
            r[1] = quick_reciprocal(additive_divisor<false>(q[i + 1], k));
          },
          sums);
    }
  }
}

}  // namespace attn::gpu
