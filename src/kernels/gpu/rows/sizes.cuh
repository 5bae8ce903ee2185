/// The sizes of a piece of a problem that is computed by whole rows, and how threads walk
/// through it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>

#include "attn/core/site.hpp"
#include "attn/kernels/gpu/functor/dispatch.cuh"
#include "attn/kernels/gpu/functor/mma.cuh"

namespace attn::gpu {

inline constexpr int kPlainThreads = 256;

/// Some units of a problem, a unit being a batch and a kv head with the heads that share it.
/// Rows of scores are numbered [unit, head of the group, query], keys [unit, key].
struct RowSizes {
  std::int64_t first = 0;  ///< the first unit
  std::int64_t units = 0;
  int kv_heads = 1;
  int group = 1;
  int queries = 0;
  int keys = 0;
  int channels = 0;
  int values = 0;

  ATTN_FN std::int64_t rows() const { return units * group * queries; }
  ATTN_FN std::int64_t all_keys() const { return units * keys; }

  ATTN_FN std::int64_t unit_of_row(std::int64_t row) const {
    return row / (static_cast<std::int64_t>(group) * queries);
  }
  ATTN_FN int batch(std::int64_t unit) const {
    return static_cast<int>((first + unit) / kv_heads);
  }
  ATTN_FN int kv_head(std::int64_t unit) const {
    return static_cast<int>((first + unit) % kv_heads);
  }
  template <class V>
  ATTN_FN Site<V> site(std::int64_t row, int k) const {
    const std::int64_t unit = unit_of_row(row);
    const int head = kv_head(unit) * group + static_cast<int>(row / queries % group);
    return {batch(unit), head, static_cast<int>(row % queries), k};
  }
};

/// Blocks for `count` threads; kernels walk on in steps of the whole grid.
inline std::int64_t plain_blocks(std::int64_t count) {
  constexpr std::int64_t kMost = 1 << 20;
  return std::clamp<std::int64_t>((count + kPlainThreads - 1) / kPlainThreads, 1, kMost);
}

/// body(i) for all i below count.
template <class Body>
__device__ __forceinline__ void for_each_thread(std::int64_t count, const Body& body) {
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count; i += static_cast<std::int64_t>(gridDim.x) * blockDim.x)
    body(i);
}

/// body(i) for all i below count, the 32 lanes of a warp together.
template <class Body>
__device__ __forceinline__ void for_each_warp(std::int64_t count, const Body& body) {
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (blockDim.x / 32);
  for (std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
       i < count; i += warps)
    body(i);
}

/// NaN is no maximum.
template <class V>
__device__ __forceinline__ V warp_max(V x) {
  for (int apart = 16; apart > 0; apart /= 2)
    x = fmax(x, __shfl_xor_sync(0xffffffffu, x, apart));
  return x;
}

/// A launch of `count` threads; none for none.
template <class... Parameters, class... Arguments>
void launch_threads(void (*kernel)(Parameters...), std::int64_t count, cudaStream_t stream,
                    const Arguments&... arguments) {
  if (count > 0)
    launch("attn::gpu", kernel, plain_blocks(count), kPlainThreads, 0, stream, arguments...);
}
template <class... Parameters, class... Arguments>
void launch_warps(void (*kernel)(Parameters...), std::int64_t count, cudaStream_t stream,
                  const Arguments&... arguments) {
  launch_threads(kernel, count * 32, stream, arguments...);
}

}  // namespace attn::gpu
