/// What the kernels on tensors share: grids, element types, and walking strided tensors.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/shape.hpp"
#include "tensor/convert.hpp"
#include "tensor/cpu/rows.hpp"
#include "tensor/op.hpp"

namespace attn::gpu {

/// Numbers are computed with in float, or in double beside double.
template <class T>
using WideOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
__device__ __forceinline__ WideOf<T> wide(T x) {
  return op::convert<WideOf<T>>(x);
}

using op::dispatch_numbers;

inline constexpr int kThreads = 256;
/// Numbers a thread has under way at once; memory answers after hundreds of cycles.
inline constexpr int kEach = 4;

/// Blocks for `count` numbers; kernels walk on in steps of the whole grid.
inline unsigned blocks_for(std::int64_t count, std::int64_t per_block = kThreads * kEach) {
  constexpr std::int64_t kMost = 1 << 20;
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((count + per_block - 1) / per_block, 1, kMost));
}

/// Calls body(i) for all i below count, kEach of them of one thread side by side.
template <class Body>
__device__ __forceinline__ void for_numbers(std::int64_t count, const Body& body) {
  const std::int64_t grid = static_cast<std::int64_t>(gridDim.x) * kThreads * kEach;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads * kEach;
       first < count; first += grid) {
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const std::int64_t i = first + k * kThreads + threadIdx.x;
      if (i < count) body(i);
    }
  }
}

/// Where number i of a shape lies in each of several tensors.
template <int kCount>
struct Places {
  int rank = 0;
  std::int64_t count = 0;
  std::int64_t extents[Shape::kMaxRank] = {};
  std::int64_t strides[kCount][Shape::kMaxRank] = {};

  Places(const Shape& full, const std::array<Shape, kCount>& all) : count(full.numel()) {
    const cpu::JoinedAxes<kCount> axes(full, all);
    rank = axes.shape.rank();
    for (int axis = 0; axis < rank; ++axis) {
      extents[axis] = axes.shape[axis];
      for (std::size_t t = 0; t < kCount; ++t) strides[t][axis] = axes.strides[t][axis];
    }
  }

  __device__ __forceinline__ void at(std::int64_t i, std::int64_t (&offsets)[kCount]) const {
    if (count <= INT32_MAX) {  // divisions of 64 bits are ten times slower
      walk(static_cast<std::uint32_t>(i), offsets);
    } else {
      walk(static_cast<std::uint64_t>(i), offsets);
    }
  }

 private:
  template <class Index>
  __device__ __forceinline__ void walk(Index rest, std::int64_t (&offsets)[kCount]) const {
    for (int t = 0; t < kCount; ++t) offsets[t] = 0;
    for (int axis = rank - 1; axis > 0; --axis) {
      const auto extent = static_cast<Index>(extents[axis]);
      const Index next = rest / extent;
      const auto place = static_cast<std::int64_t>(rest - next * extent);
      for (int t = 0; t < kCount; ++t) offsets[t] += place * strides[t][axis];
      rest = next;
    }
    for (int t = 0; t < kCount; ++t)
      offsets[t] += static_cast<std::int64_t>(rest) * strides[t][0];
  }
};

/// Numbers that lie side by side, as many as one access of 16 bytes holds.
template <class T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(T);
  T x[kCount];
};

/// Whether all tensors of `positions`, which begin at `first`, can be read and written in packs
/// in the order in which they lie.
template <int kCount>
bool side_by_side(const Places<kCount>& positions,
                  const std::array<const void*, kCount>& first) {
  if (positions.rank > 1) return false;
  for (std::size_t t = 0; t < kCount; ++t)
    if ((positions.rank == 1 && positions.strides[t][0] != 1) ||
        reinterpret_cast<std::uintptr_t>(first[t]) % 16 != 0)
      return false;
  return true;
}

/// out[i] = f(in[0][i], in[1][i], ...) for numbers that lie side by side.
template <class T, int kIn, class F>
__device__ __forceinline__ void map_packs(std::int64_t count, const T* const (&in)[kIn], T* out,
                                          const F& f) {
  using W = WideOf<T>;
  constexpr int kPack = Pack<T>::kCount;
  const std::int64_t packs = count / kPack;
  const std::int64_t grid = static_cast<std::int64_t>(gridDim.x) * kThreads;
  const std::int64_t own = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (std::int64_t p = own; p < packs; p += grid) {
    Pack<T> from[kIn];
#pragma unroll
    for (int k = 0; k < kIn; ++k) from[k] = reinterpret_cast<const Pack<T>*>(in[k])[p];
    Pack<T> to;
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      W x[kIn];
#pragma unroll
      for (int k = 0; k < kIn; ++k) x[k] = wide(from[k].x[i]);
      to.x[i] = op::convert<T>(f(x));
    }
    reinterpret_cast<Pack<T>*>(out)[p] = to;
  }
  for (std::int64_t i = packs * kPack + own; i < count; i += grid) {
    W x[kIn];
    for (int k = 0; k < kIn; ++k) x[k] = wide(in[k][i]);
    out[i] = op::convert<T>(f(x));
  }
}

/// After a launch.
inline void check_launch() {
  ATTN_CUDA_CALL(cudaGetLastError());
}

/// Launches a kernel whose threads walk `count` numbers, if there are any.
template <class... Parameters, class... Args>
void launch(std::int64_t count, void (*kernel)(Parameters...), const Args&... args) {
  if (count == 0) return;
  kernel<<<blocks_for(count), kThreads, 0, stream()>>>(args...);
  check_launch();
}

}  // namespace attn::gpu
