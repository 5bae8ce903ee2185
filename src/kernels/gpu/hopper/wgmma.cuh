/// Hopper's matrix units: a warpgroup (four warps) multiplies 64 rows by N columns, operands in
/// shared memory or, the first one, in registers. Sums are laid out as 16 x 8 blocks
/// (Block16x8) of the rows of each warp, as those of mma.sync are.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/kernels/gpu/functor/mma.cuh"
#include "kernels/gpu/hopper/barrier.cuh"

namespace attn::gpu::hopper {

/// Elements of a row of a tile; wider rows are several tiles one after the other.
inline constexpr int kWidth = 64;
/// Bytes of such a row. Its 16-byte pieces are swizzled by the row's number modulo 8, as the
/// TMA writes them (CU_TENSOR_MAP_SWIZZLE_128B); tiles begin at multiples of 1024 bytes.
inline constexpr int kRowBytes = 128;

/// A matrix of 16-bit numbers in shared memory, kRows rows of kHalves times kWidth numbers.
template <int kRows, int kHalves>
struct Matrix {
  unsigned char half[kHalves][kRows * kRowBytes];
};

/// A tile of 16-bit numbers for the matrix units. `next_tile`: bytes between the tiles of a
/// matrix that is wider than one, when its width is the product's rows or columns.
__device__ __forceinline__ std::uint64_t operand(const void* tile, int next_tile = 16) {
  const std::uint64_t address = (shared_address(tile) & 0x3ffffu) >> 4;
  const auto leading = static_cast<std::uint64_t>(next_tile >> 4);
  constexpr std::uint64_t kEightRows = (8 * kRowBytes) >> 4;
  constexpr std::uint64_t kSwizzle128 = 1;
  return address | leading << 16 | kEightRows << 32 | kSwizzle128 << 62;
}
/// The operand `bytes` further on.
__device__ __forceinline__ std::uint64_t advance(std::uint64_t from, int bytes) {
  return from + static_cast<std::uint64_t>(bytes >> 4);
}

/// Before the first product, and after registers that products use were written.
__device__ __forceinline__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void end_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most kPending groups of products are under way.
template <int kPending>
__device__ __forceinline__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
/// The compiler must not read or write these sums before this place.
template <int kBlocks>
__device__ __forceinline__ void pin(Block16x8 (&sums)[kBlocks]) {
#pragma unroll
  for (int j = 0; j < kBlocks; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) asm volatile("" : "+f"(sums[j][e])::"memory");
}

#define ATTN_SUM4(d, j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define ATTN_SUM16(d) ATTN_SUM4(d, 0), ATTN_SUM4(d, 1), ATTN_SUM4(d, 2), ATTN_SUM4(d, 3)
#define ATTN_SUM32(d) \
  ATTN_SUM16(d), ATTN_SUM4(d, 4), ATTN_SUM4(d, 5), ATTN_SUM4(d, 6), ATTN_SUM4(d, 7)
#define ATTN_SUM64(d)                                                                  \
  ATTN_SUM32(d), ATTN_SUM4(d, 8), ATTN_SUM4(d, 9), ATTN_SUM4(d, 10), ATTN_SUM4(d, 11), \
      ATTN_SUM4(d, 12), ATTN_SUM4(d, 13), ATTN_SUM4(d, 14), ATTN_SUM4(d, 15)
#define ATTN_NAMES16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define ATTN_NAMES32 \
  ATTN_NAMES16       \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define ATTN_NAMES64                                                                   \
  ATTN_NAMES32                                                                         \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

#define ATTN_BOTH_TYPES(multiply)              \
  if constexpr (std::is_same_v<T, BFloat16>) { \
    multiply("bf16");                          \
  } else {                                     \
    multiply("f16");                           \
  }

/// sums = a b (or += a b, if `add`) over a depth of 16; a and b in shared memory. kTurnedA: a
/// is a tile [depth][row], not [row][depth]; kTurnedB: b is [depth][column], not
/// [column][depth].
template <class T, bool kTurnedA, bool kTurnedB, int kBlocks>
__device__ __forceinline__ void multiply(Block16x8 (&sums)[kBlocks], std::uint64_t a,
                                         std::uint64_t b, bool add) {
  static_assert(kBlocks == 4 || kBlocks == 8 || kBlocks == 16);
  const int adds = static_cast<int>(add);
#define ATTN_MULTIPLY(shape, names, list, at, bt, addt, ta, tb, type)                          \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " addt                                    \
               ", 0;\nwgmma.mma_async.sync.aligned." shape "k16.f32." type "." type " {" names \
               "}, " at ", " bt ", add, 1, 1, " ta ", " tb ";\n}"                              \
               : list(sums)                                                                    \
               : "l"(a), "l"(b), "r"(adds), "n"(kTurnedA ? 1 : 0), "n"(kTurnedB ? 1 : 0))
#define ATTN_N32(type) \
  ATTN_MULTIPLY("m64n32", ATTN_NAMES16, ATTN_SUM16, "%16", "%17", "%18", "%19", "%20", type)
#define ATTN_N64(type) \
  ATTN_MULTIPLY("m64n64", ATTN_NAMES32, ATTN_SUM32, "%32", "%33", "%34", "%35", "%36", type)
#define ATTN_N128(type) \
  ATTN_MULTIPLY("m64n128", ATTN_NAMES64, ATTN_SUM64, "%64", "%65", "%66", "%67", "%68", type)
  if constexpr (kBlocks == 4) {
    ATTN_BOTH_TYPES(ATTN_N32)
  } else if constexpr (kBlocks == 8) {
    ATTN_BOTH_TYPES(ATTN_N64)
  } else {
    ATTN_BOTH_TYPES(ATTN_N128)
  }
#undef ATTN_N128
#undef ATTN_N64
#undef ATTN_N32
#undef ATTN_MULTIPLY
}

/// sums += a b with a in registers; b is a tile [depth][column].
template <class T, int kBlocks>
__device__ __forceinline__ void multiply(Block16x8 (&sums)[kBlocks],
                                         const typename Mma<T>::A& a, std::uint64_t b) {
  static_assert(kBlocks == 8 || kBlocks == 16);
#define ATTN_MULTIPLY(shape, names, list, as, bt, type)                                   \
  asm volatile(                                                                           \
      "{\n.reg .pred add;\nsetp.eq.b32 add, 0, 0;\n"                                      \
      "wgmma.mma_async.sync.aligned." shape "k16.f32." type "." type " {" names "}, {" as \
      "}, " bt ", add, 1, 1, 1;\n}"                                                       \
      : list(sums)                                                                        \
      : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "l"(b))
#define ATTN_N64(type) \
  ATTN_MULTIPLY("m64n64", ATTN_NAMES32, ATTN_SUM32, "%32, %33, %34, %35", "%36", type)
#define ATTN_N128(type) \
  ATTN_MULTIPLY("m64n128", ATTN_NAMES64, ATTN_SUM64, "%64, %65, %66, %67", "%68", type)
  if constexpr (kBlocks == 8) {
    ATTN_BOTH_TYPES(ATTN_N64)
  } else {
    ATTN_BOTH_TYPES(ATTN_N128)
  }
#undef ATTN_N128
#undef ATTN_N64
#undef ATTN_MULTIPLY
}

#undef ATTN_BOTH_TYPES
#undef ATTN_NAMES64
#undef ATTN_NAMES32
#undef ATTN_NAMES16
#undef ATTN_SUM64
#undef ATTN_SUM32
#undef ATTN_SUM16
#undef ATTN_SUM4

/// A warp's operand of 16 rows and depth 16 into a tile, rows from `row` on, as piece `piece`
/// and the next of each row.
template <class A>
__device__ __forceinline__ void store_operand(void* tile, int row, int piece, const A& a) {
  const int lane = lane_id();
  const int at = row + (lane & 15);
  const auto address =
      shared_address(tile) +
      static_cast<std::uint32_t>(at * kRowBytes + (((piece + (lane >> 4)) ^ (at & 7)) << 4));
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
      "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3])
      : "memory");
}

// Products of whole tiles by a warpgroup. They are queued: begin_products() comes before,
// end_products() and wait_for_products() after.

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
