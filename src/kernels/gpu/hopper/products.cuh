/// Products of whole tiles by a warpgroup. They are queued: begin_products() comes before,
/// end_products() and wait_for_products() after.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "kernels/gpu/hopper/wgmma.cuh"

namespace attn::gpu::hopper {

/// sums = a b^T over all channels: 64 rows of a from `row` on, all rows of b.
template <class T, int kBlocks, int kHalves, int kRows>
__device__ __forceinline__ void rows_by_rows(Block16x8 (&sums)[kBlocks],
                                             const Matrix<kRows, kHalves>& a, int row,
                                             const Matrix<8 * kBlocks, kHalves>& b) {
#pragma unroll
  for (int half = 0; half < kHalves; ++half) {
    const std::uint64_t rows = operand(a.half[half] + row * kRowBytes);
    const std::uint64_t columns = operand(b.half[half]);
#pragma unroll
    for (int bytes = 0; bytes < kRowBytes; bytes += 32)
      multiply<T, false, false>(sums, advance(rows, bytes), advance(columns, bytes),
                                half + bytes > 0);
  }
}

/// total += a tile: the columns of a, which is in registers, meet the rows of the tile.
template <class T, int kBlocks, int kSteps, int kHalves, int kRows>
__device__ __forceinline__ void add_product(Block16x8 (&total)[kBlocks],
                                            const typename Mma<T>::A (&a)[kSteps],
                                            const Matrix<kRows, kHalves>& tile) {
  static_assert(kRows == 16 * kSteps && kBlocks == 8 * kHalves);
  const std::uint64_t from = operand(tile.half[0], kRows * kRowBytes);
#pragma unroll
  for (int step = 0; step < kSteps; ++step)
    multiply<T>(total, a[step], advance(from, step * 16 * kRowBytes));
}

/// Sums become operands: their columns are the depth.
template <class T, int kSteps>
__device__ __forceinline__ void pack(typename Mma<T>::A (&to)[kSteps],
                                     const Block16x8 (&sums)[2 * kSteps]) {
#pragma unroll
  for (int step = 0; step < kSteps; ++step) to[step] = Mma<T>::from_sums(&sums[2 * step]);
}

}  // namespace attn::gpu::hopper
