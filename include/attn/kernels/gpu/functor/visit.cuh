/// Which tiles a block visits, as its mask says, and how it goes over the scores of one.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/kernels/gpu/functor/mma.cuh"
#include "attn/mask/combine.hpp"
#include "attn/mask/none.hpp"

namespace attn::gpu {

/// A tile to visit; tile == count when there is none left.
struct Visit {
  int tile = 0;
  Cover cover = Cover::none;
};

/// Who looks for the next tile together and gets the same answer: all threads of a block.
struct WholeBlock {
  // clang-format off
  static __device__ __forceinline__ int place() { return static_cast<int>(threadIdx.x); }
  static __device__ __forceinline__ int count() { return static_cast<int>(blockDim.x); }
  static __device__ __forceinline__ bool any(bool x) { return __syncthreads_or(x) != 0; }
  static __device__ __forceinline__ bool all(bool x) { return __syncthreads_and(x) != 0; }
  // clang-format on
};
/// Or the lanes of a warp that fetches for the others.
struct OneWarp {
  // clang-format off
  static __device__ __forceinline__ int place() { return lane_id(); }
  static __device__ __forceinline__ int count() { return 32; }
  static __device__ __forceinline__ bool any(bool x) { return __any_sync(0xffffffffu, x) != 0; }
  static __device__ __forceinline__ bool all(bool x) { return __all_sync(0xffffffffu, x) != 0; }
  // clang-format on
};

/// The first tile from `tile` on of which the mask keeps anything; block_of(tile) says which
/// scores it holds.
template <class Who = WholeBlock, class M, class BlockOf>
__device__ __forceinline__ Visit next_visit(const M& mask, int tile, int count,
                                            const BlockOf& block_of) {
  if constexpr (std::is_same_v<M, mask::None>) {
    return {tile, Cover::all};
  } else if constexpr (mask::CheapCover<M>) {
    // Other masks are asked row by row, a row a thread.
    for (; tile < count; tile += 32) {
      const int mine = tile + lane_id();
      const Cover cover = mine < count ? mask.cover(block_of(mine)) : Cover::none;
      const unsigned kept = __ballot_sync(0xffffffffu, cover != Cover::none);
      if (kept == 0) continue;
      const int first = __ffs(static_cast<int>(kept)) - 1;
      const int found = __shfl_sync(0xffffffffu, static_cast<int>(cover), first);
      return {tile + first, static_cast<Cover>(found)};
    }
    return {count, Cover::none};
  } else {
    for (; tile < count; ++tile) {
      const Block block = block_of(tile);
      bool any = false;
      bool every = true;
      for (int q = block.q.begin + Who::place(); q < block.q.end; q += Who::count()) {
        const Cover row = mask.cover({block.batch, block.head, {q, q + 1}, block.k});
        any = any || row != Cover::none;
        every = every && row == Cover::all;
      }
      if (!Who::any(any)) continue;
      return {tile, Who::all(every) ? Cover::all : Cover::some};
    }
    return {count, Cover::none};
  }
}

/// Whether the mask keeps a pair, if it has to be asked. Only a rolled loop, whose mask may be
/// long, saves time by not asking.
template <bool kRolled, class M>
__device__ __forceinline__ bool kept_by(const M& mask, bool ask, const Site<float>& at) {
  if constexpr (kRolled) {
    return !ask || mask.keep(at);
  } else {
    return !ask | static_cast<bool>(mask.keep(at));
  }
}

/// visit(s[i][j][e], i, j, e) for the sums of a tile. Rolled, its code is emitted once and the
/// sums pass through the thread's own memory.
template <bool kRolled, int kRows, int kColumns, class F>
__device__ __forceinline__ void for_each_sum(Block16x8 (&s)[kRows][kColumns], const F& visit) {
  if constexpr (kRolled) {
    float own[kRows * kColumns * 4];
#pragma unroll
    for (int i = 0; i < kRows * kColumns * 4; ++i)
      own[i] = s[i / (4 * kColumns)][i / 4 % kColumns][i % 4];
#pragma unroll 1
    for (int i = 0; i < kRows * kColumns * 4; ++i)
      visit(own[i], i / (4 * kColumns), i / 4 % kColumns, i % 4);
#pragma unroll
    for (int i = 0; i < kRows * kColumns * 4; ++i)
      s[i / (4 * kColumns)][i / 4 % kColumns][i % 4] = own[i];
  } else {
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) visit(s[i][j][e], i, j, e);
  }
}

}  // namespace attn::gpu
