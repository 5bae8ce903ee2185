/// Sixteen bytes of a key or value: the unit in which decoding reads memory.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"

namespace attn::gpu {

/// Neighbouring channels of one row as they lie in memory.
template <class T>
struct DecodeChunk {
  static constexpr int kCount = 16 / static_cast<int>(sizeof(T));

  std::uint32_t words[4] = {0, 0, 0, 0};

  /// From aligned memory that nobody writes meanwhile, or zeros: without a branch, so that the
  /// loads of a step follow one another. Every key is read once and is kept out of L1.
  __device__ __forceinline__ void read(const T* from, bool exists) {
    asm volatile(
        "{\n"
        ".reg .pred there;\n"
        "setp.ne.b32 there, %5, 0;\n"
        "mov.b32 %0, 0;\n"
        "mov.b32 %1, 0;\n"
        "mov.b32 %2, 0;\n"
        "mov.b32 %3, 0;\n"
        "@there ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\n"
        "}\n"
        : "=&r"(words[0]), "=&r"(words[1]), "=&r"(words[2]), "=&r"(words[3])
        : "l"(from), "r"(static_cast<int>(exists)));
  }

  /// The first `count` channels from anywhere, element by element; the rest is zero.
  __device__ __forceinline__ void gather(const T* from, std::int64_t stride, int count) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i >= count) continue;
      if constexpr (sizeof(T) == 4) {
        words[i] = __float_as_uint(from[i * stride]);
      } else {
        words[i / 2] |= static_cast<std::uint32_t>(from[i * stride].bits) << (i % 2 * 16);
      }
    }
  }

  __device__ __forceinline__ void widen(float (&to)[kCount]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (std::is_same_v<T, float>) {
        to[i] = __uint_as_float(words[i]);
      } else if constexpr (std::is_same_v<T, BFloat16>) {
        to[2 * i] = __uint_as_float(words[i] << 16);
        to[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
      } else {
        const float2 pair = __half22float2(*reinterpret_cast<const __half2*>(&words[i]));
        to[2 * i] = pair.x;
        to[2 * i + 1] = pair.y;
      }
    }
  }
};

}  // namespace attn::gpu
