/// Every tile choice of the attention kernels, with its reason.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/kernels/gpu/functor/mma.cuh"

namespace attn::gpu {

/// A block of queries passes over tiles of keys.
template <class T, int kDim>
struct ForwardTile {
  static constexpr bool kHalf = sizeof(T) == 2;
  static constexpr int kChannels = kDim;
  static constexpr int kWarps = 4;
  static constexpr int kThreads = 32 * kWarps;
  // Two row tiles a warp use each fragment of K and V twice: with one, reading them from shared
  // memory takes longer than multiplying. Past 128 channels the output fills the registers.
  static constexpr int kRowTiles = kHalf && kDim <= 128 ? 2 : 1;
  static constexpr int kQueries = 16 * kRowTiles * kWarps;
  static constexpr int kKeys = kHalf && kDim <= 128 ? 64 : 32;
  // Several blocks a multiprocessor: one multiplies while another takes exponentials. H200, 64
  // channels: three blocks 302 TFLOP/s, two with the queries kept in registers 282.
  static constexpr int kBlocks = kHalf ? (kDim <= 64 ? 3 : 2) : kDim <= 128 ? 2 : 1;
  static constexpr int kStages = 2;
  static constexpr int kStride = kDim + Mma<T>::kPad;
  static constexpr std::size_t kBytes = sizeof(T) * kStride * (kQueries + 2 * kStages * kKeys);
};

/// A block of keys passes over tiles of queries. Scores are held transposed, keys as rows, so
/// that they are operands of dV and dK as they are.
template <class T, int kDim>
struct BackwardTile {
  static constexpr bool kHalf = sizeof(T) == 2;
  static constexpr int kChannels = kDim;
  // The sums of dK and dV fill the registers: 2 x 16 rows of 128 channels are 128 a thread.
  static constexpr int kRowTiles = kHalf && kDim <= 64 ? 2 : 1;
  static constexpr int kWarps = kHalf && kDim > 64 && kDim <= 128 ? 8 : 4;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kKeys = 16 * kRowTiles * kWarps;
  static constexpr int kQueries = kWarps == 8 ? 64 : 32;
  // Past 128 channels dV and dK are made in two launches, one after the other.
  static constexpr bool kSplit = kDim > 128;
  static constexpr int kBlocks = kWarps == 8 || !kHalf || kSplit ? 1 : 2;
  static constexpr int kStages = kHalf || kDim <= 128 ? 2 : 1;
  static constexpr int kStride = kDim + Mma<T>::kPad;
  static constexpr int kScoreStride = kQueries + Mma<T>::kPad;
  static constexpr std::size_t kBytes =
      sizeof(T) *
          (2 * kKeys * kStride + 2 * kStages * kQueries * kStride + 2 * kKeys * kScoreStride) +
      sizeof(float) * 2 * kStages * kQueries;
};

}  // namespace attn::gpu
