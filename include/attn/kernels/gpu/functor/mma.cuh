/// Fragments of the matrix units: how a warp reads them from shared memory and multiplies them.
/// One set of names for 16-bit types (m16n8k16) and for float (m16n8k8, three TF32 products).

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"

namespace attn::gpu {

/// Sums of a 16 x 8 block: lane 4 g + t holds (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t +
/// 1).
using Block16x8 = float[4];

__device__ __forceinline__ int lane_id() {
  return static_cast<int>(threadIdx.x) & 31;
}

/// The sum over the lanes of a warp, in all of them.
template <class V>
__device__ __forceinline__ V warp_sum(V x) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) x += __shfl_xor_sync(0xffffffffu, x, apart);
  return x;
}

/// Two floats as one word of two 16-bit numbers, the first in the lower half.
template <class T>
__device__ __forceinline__ std::uint32_t pack_pair(float first, float second) {
  std::uint32_t word;
  if constexpr (std::is_same_v<T, BFloat16>) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  }
  return word;
}

template <class T>
__device__ __forceinline__ float to_float(T x) {
  if constexpr (std::is_same_v<T, float>) return x;
  if constexpr (std::is_same_v<T, BFloat16>)
    return __uint_as_float(static_cast<std::uint32_t>(x.bits) << 16);
  if constexpr (std::is_same_v<T, Float16>) return __half2float(__ushort_as_half(x.bits));
}

template <class T>
__device__ __forceinline__ T from_float(float x) {
  T result;
  if constexpr (std::is_same_v<T, float>) {
    result = x;
  } else {
    result.bits = static_cast<std::uint16_t>(pack_pair<T>(x, 0.0f) & 0xffffu);
  }
  return result;
}

/// Four 8 x 8 blocks of 16-bit numbers; lane i gives the address of row i % 8 of block i / 8.
template <bool kTransposed>
__device__ __forceinline__ void load_matrix(std::uint32_t (&x)[4], const void* row) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address)
                 : "memory");
  }
}

/// 16-bit operands. Tiles in shared memory are rows of kStride elements; kStride / 8 is odd, so
/// that the eight rows of a block lie in different banks.
template <class T>
struct Mma {
  static constexpr int kDepth = 16;    ///< how many products one step sums
  static constexpr int kSumTiles = 2;  ///< 16 x 8 blocks of sums that make one A operand
  static constexpr int kPad = 8;       ///< elements after each row of a tile

  struct A {
    std::uint32_t x[4];
  };
  /// Two neighbouring B operands: 16 columns.
  struct B {
    std::uint32_t x[4];
  };

  /// Rows row.., depth k.. of a tile [row][k].
  template <int kStride>
  static __device__ __forceinline__ A load_a(const T* tile, int row, int k) {
    A a;
    const int lane = lane_id();
    load_matrix<false>(a.x, tile + (row + (lane & 15)) * kStride + k + (lane >> 4) * 8);
    return a;
  }
  /// The same from a tile [k][row].
  template <int kStride>
  static __device__ __forceinline__ A load_a_transposed(const T* tile, int row, int k) {
    A a;
    const int lane = lane_id();
    load_matrix<true>(
        a.x, tile + (k + (lane & 7) + (lane >> 4) * 8) * kStride + row + ((lane >> 3) & 1) * 8);
    return a;
  }
  /// Columns column.. column + 15, depth k.. of a tile [column][k].
  template <int kStride>
  static __device__ __forceinline__ B load_b(const T* tile, int column, int k) {
    B b;
    const int lane = lane_id();
    load_matrix<false>(b.x, tile + (column + (lane & 7) + (lane >> 4) * 8) * kStride + k +
                                ((lane >> 3) & 1) * 8);
    return b;
  }
  /// The same from a tile [k][column].
  template <int kStride>
  static __device__ __forceinline__ B load_b_transposed(const T* tile, int column, int k) {
    B b;
    const int lane = lane_id();
    load_matrix<true>(b.x, tile + (k + (lane & 15)) * kStride + column + (lane >> 4) * 8);
    return b;
  }
  /// Sums become an operand: the columns of kSumTiles blocks are its depth.
  static __device__ __forceinline__ A from_sums(const Block16x8* sums) {
    return {{pack_pair<T>(sums[0][0], sums[0][1]), pack_pair<T>(sums[0][2], sums[0][3]),
             pack_pair<T>(sums[1][0], sums[1][1]), pack_pair<T>(sums[1][2], sums[1][3])}};
  }
  /// A block of sums into a tile, at [row][column].
  template <int kStride>
  static __device__ __forceinline__ void store_sums(T* tile, int row, int column,
                                                    const Block16x8& sums) {
    const int lane = lane_id();
    T* at = tile + (row + (lane >> 2)) * kStride + column + (lane & 3) * 2;
    *reinterpret_cast<std::uint32_t*>(at) = pack_pair<T>(sums[0], sums[1]);
    *reinterpret_cast<std::uint32_t*>(at + 8 * kStride) = pack_pair<T>(sums[2], sums[3]);
  }

  /// sums[0], sums[1] += a b, the second for columns 8.. 15.
  static __device__ __forceinline__ void multiply(Block16x8* sums, const A& a, const B& b) {
    multiply_one(sums[0], a, b.x[0], b.x[1]);
    multiply_one(sums[1], a, b.x[2], b.x[3]);
  }

 private:
  static __device__ __forceinline__ void multiply_one(Block16x8& c, const A& a,
                                                      std::uint32_t b0, std::uint32_t b1) {
    if constexpr (std::is_same_v<T, BFloat16>) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
          "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b0), "r"(b1));
    } else {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
          "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b0), "r"(b1));
    }
  }
};

/// Float operands as two TF32 numbers each, high and low; three products keep 21 bits of each
/// factor. The unit's depth 0..7 is taken as columns 0, 2, 4, 6, 1, 3, 5, 7 of both operands,
/// which makes a lane's two numbers neighbours and sums usable as they are.
template <>
struct Mma<float> {
  static constexpr int kDepth = 8;
  static constexpr int kSumTiles = 1;
  static constexpr int kPad = 8;

  struct A {
    float x[4];
  };
  struct B {
    float x[4];
  };

  template <int kStride>
  static __device__ __forceinline__ A load_a(const float* tile, int row, int k) {
    const int lane = lane_id();
    const float* at = tile + (row + (lane >> 2)) * kStride + k + (lane & 3) * 2;
    const float2 upper = *reinterpret_cast<const float2*>(at);
    const float2 lower = *reinterpret_cast<const float2*>(at + 8 * kStride);
    return {{upper.x, lower.x, upper.y, lower.y}};
  }
  template <int kStride>
  static __device__ __forceinline__ A load_a_transposed(const float* tile, int row, int k) {
    const int lane = lane_id();
    const float* at = tile + (k + (lane & 3) * 2) * kStride + row + (lane >> 2);
    return {{at[0], at[8], at[kStride], at[kStride + 8]}};
  }
  template <int kStride>
  static __device__ __forceinline__ B load_b(const float* tile, int column, int k) {
    const int lane = lane_id();
    const float* at = tile + (column + (lane >> 2)) * kStride + k + (lane & 3) * 2;
    const float2 left = *reinterpret_cast<const float2*>(at);
    const float2 right = *reinterpret_cast<const float2*>(at + 8 * kStride);
    return {{left.x, left.y, right.x, right.y}};
  }
  template <int kStride>
  static __device__ __forceinline__ B load_b_transposed(const float* tile, int column, int k) {
    return load_b_transposed(tile, column, k, kStride);
  }
  /// The same where the stride is known at run time.
  static __device__ __forceinline__ B load_b_transposed(const float* tile, int column, int k,
                                                        int stride) {
    const int lane = lane_id();
    const float* at = tile + (k + (lane & 3) * 2) * stride + column + (lane >> 2);
    return {{at[0], at[stride], at[8], at[stride + 8]}};
  }
  static __device__ __forceinline__ A from_sums(const Block16x8* sums) {
    return {{sums[0][0], sums[0][2], sums[0][1], sums[0][3]}};
  }
  template <int kStride>
  static __device__ __forceinline__ void store_sums(float* tile, int row, int column,
                                                    const Block16x8& sums) {
    const int lane = lane_id();
    float* at = tile + (row + (lane >> 2)) * kStride + column + (lane & 3) * 2;
    *reinterpret_cast<float2*>(at) = {sums[0], sums[1]};
    *reinterpret_cast<float2*>(at + 8 * kStride) = {sums[2], sums[3]};
  }

  /// Adds a block of sums to a tile.
  static __device__ __forceinline__ void add_sums(float* tile, int row, int column,
                                                  const Block16x8& sums, int stride) {
    const int lane = lane_id();
    float* at = tile + (row + (lane >> 2)) * stride + column + (lane & 3) * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      auto* pair = reinterpret_cast<float2*>(at + 8 * half * stride);
      *pair = {pair->x + sums[2 * half], pair->y + sums[2 * half + 1]};
    }
  }

  static __device__ __forceinline__ void multiply(Block16x8* sums, const A& a, const B& b) {
    std::uint32_t a_high[4], a_low[4], b_high[4], b_low[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      split(a.x[i], a_high[i], a_low[i]);
      split(b.x[i], b_high[i], b_low[i]);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      // The small terms first, for digits.
      multiply_one(sums[half], a_low, b_high[2 * half], b_high[2 * half + 1]);
      multiply_one(sums[half], a_high, b_low[2 * half], b_low[2 * half + 1]);
      multiply_one(sums[half], a_high, b_high[2 * half], b_high[2 * half + 1]);
    }
  }

 private:
  static __device__ __forceinline__ void split(float x, std::uint32_t& high,
                                               std::uint32_t& low) {
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(high) : "f"(x));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(low) : "f"(x - __uint_as_float(high)));
  }
  static __device__ __forceinline__ void multiply_one(Block16x8& c, const std::uint32_t (&a)[4],
                                                      std::uint32_t b0, std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};

/// sums[16 kRows x 8 kColumns] = a b^T: rows of tile a, columns are rows of tile b.
template <class T, int kDim, int kRows, int kColumns>
__device__ __forceinline__ void rows_by_rows(Block16x8 (&sums)[kRows][kColumns],
                                             const T* a_tile, int row, const T* b_tile) {
  using Unit = Mma<T>;
  constexpr int kStride = kDim + Unit::kPad;
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i][j][e] = 0.0f;
#pragma unroll
  for (int k = 0; k < kDim; k += Unit::kDepth) {
    typename Unit::A a[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      a[i] = Unit::template load_a<kStride>(a_tile, row + 16 * i, k);
#pragma unroll
    for (int j = 0; j < kColumns / 2; ++j) {
      const auto b = Unit::template load_b<kStride>(b_tile, 16 * j, k);
#pragma unroll
      for (int i = 0; i < kRows; ++i) Unit::multiply(&sums[i][2 * j], a[i], b);
    }
  }
}

/// total += sums tile: the columns of sums meet the rows of the tile.
template <class T, int kDim, int kRows, int kColumns>
__device__ __forceinline__ void add_product(Block16x8 (&total)[kRows][kDim / 8],
                                            const Block16x8 (&sums)[kRows][kColumns],
                                            const T* tile) {
  using Unit = Mma<T>;
  constexpr int kStride = kDim + Unit::kPad;
#pragma unroll
  for (int step = 0; step < kColumns / Unit::kSumTiles; ++step) {
    typename Unit::A a[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) a[i] = Unit::from_sums(&sums[i][step * Unit::kSumTiles]);
#pragma unroll
    for (int j = 0; j < kDim / 16; ++j) {
      const auto b =
          Unit::template load_b_transposed<kStride>(tile, 16 * j, step * Unit::kDepth);
#pragma unroll
      for (int i = 0; i < kRows; ++i) Unit::multiply(&total[i][2 * j], a[i], b);
    }
  }
}

}  // namespace attn::gpu
