/// Which kernels for Hopper are built, and every tile choice of theirs with its reason;
/// attn/kernels/route.hpp says which attentions run on them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/kernels/gpu/limits.hpp"
#include "kernels/gpu/hopper/wgmma.cuh"

/// Whether sm_90a is among the architectures of the build: those kernels exist for no other.
#ifndef ATTN_GPU_HOPPER
#  define ATTN_GPU_HOPPER 0
#endif

namespace attn::gpu::hopper {

/// Functors that are known when the kernel is compiled, no factors of weights.
template <class T, class St>
inline constexpr bool kBuilt =
    ATTN_GPU_HOPPER != 0 && sizeof(T) == 2 && (kHopperFloat16 || std::is_same_v<T, BFloat16>) &&
    !St::kRolled && !St::kHasFactor;
template <class T, int kDim, class St>
inline constexpr bool kForwardBuilt =
    kBuilt<T, St> && (kDim == 128 || (kDim == 64 && kHopperForwardAt64));
template <class T, int kDim, class St>
inline constexpr bool kBackwardBuilt =
    kBuilt<T, St> && (kDim == 128 || (kDim == 64 && kHopperBackwardAt64));

/// Registers of a thread that multiplies and of one that fetches, in blocks of two warpgroups
/// of the first kind and one of the second: what 168 for each of 384 threads sums up to.
inline constexpr int kMultiplierRegisters = 240;
inline constexpr int kFetcherRegisters = 24;

/// Two warpgroups multiply, and a warp of a third one fetches.
template <int kDim>
struct WarpgroupTile {
  static_assert(kDim == 64 || kDim == 128);
  static constexpr int kChannels = kDim;
  static constexpr int kRowTiles = 1;  ///< 16 x 8 blocks of a warp, in its rows
  static constexpr int kGroups = 2;
  static constexpr int kWarps = 4 * kGroups;  ///< that multiply
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kAllThreads = kThreads + 128;
};

/// A block of queries passes over tiles of keys; each of two warpgroups holds half of the
/// queries.
template <int kDim>
struct ForwardTile : WarpgroupTile<kDim> {
  static constexpr int kQueries = 64 * WarpgroupTile<kDim>::kGroups;
  // Scores, weights on their way into the products and, at 128 channels, sums: 64 + 32 + 64
  // registers of a thread.
  static constexpr int kKeys = 128;
  static constexpr int kStages = 2;
};

/// A block of keys passes over tiles of queries; each of two warpgroups holds half of the keys.
/// Scores are held transposed, as those of the portable kernel.
template <int kDim>
struct BackwardTile : WarpgroupTile<kDim> {
  static constexpr int kKeys = 64 * WarpgroupTile<kDim>::kGroups;
  // At 128 channels the sums of dK and dV are 128 registers of a thread, scores and their
  // gradients 64 more.
  static constexpr int kQueries = 64;
  // The fetching warp runs ahead by up to two tiles.
  static constexpr int kStages = 3;
  // Warpgroups may drift apart by a tile: one takes exponentials while the other multiplies.
  // Barriers that make them take turns gain nothing: H200, no modifier 486 TFLOP/s without and
  // 501 with them, Gaussian 440 and 432, relative table 408 and 392.
  static constexpr int kScoreStages = 2;
};

}  // namespace attn::gpu::hopper
