/// Teams: the threads that share a row of numbers, a warp for short rows and a block for long
/// ones, and what they add up.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "tensor/gpu/launch.cuh"

namespace attn::gpu {

inline constexpr int kWarp = 32;
/// Rows longer than this take a block: a warp then has more than 32 numbers a thread.
inline constexpr std::int64_t kLongRow = 1024;

template <int kSize>
struct Team {
  static_assert(kSize == kWarp || kSize == kThreads);

  /// The row of this thread's team.
  __device__ static std::int64_t row() {
    return static_cast<std::int64_t>(blockIdx.x) * (kThreads / kSize) + threadIdx.x / kSize;
  }
  __device__ static int rank() { return static_cast<int>(threadIdx.x) % kSize; }

  /// join() over the team's numbers; everybody gets the result. In an order that never changes.
  template <class V, class Join>
  __device__ static V all(V x, V nothing, const Join& join) {
#pragma unroll
    for (int apart = kWarp / 2; apart > 0; apart /= 2)
      x = join(x, __shfl_xor_sync(0xffffffffu, x, apart));
    if constexpr (kSize == kWarp) {
      return x;
    } else {
      constexpr int kWarps = kSize / kWarp;
      __shared__ V parts[kWarps];
      __syncthreads();  // the parts of the last call have been read
      if (threadIdx.x % kWarp == 0) parts[threadIdx.x / kWarp] = x;
      __syncthreads();
      V result = nothing;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) result = join(result, parts[w]);
      return result;
    }
  }
  template <class V>
  __device__ static V sum(V x) {
    return all(x, V(0), [](V a, V b) { return a + b; });
  }
  /// A NaN does not count; it shows in the sum of exponentials.
  template <class V>
  __device__ static V max(V x) {
    return all(x, V(-INFINITY), [](V a, V b) { return b > a ? b : a; });
  }

  /// Calls body(i) for this thread's share of a row of `count` numbers.
  template <class Body>
  __device__ static void each(std::int64_t count, const Body& body) {
    for (std::int64_t i = rank(); i < count; i += kSize) body(i);
  }
};

/// Calls run(Team, blocks) with the team for rows of `count` numbers.
template <class Run>
void with_team(std::int64_t rows, std::int64_t count, const Run& run) {
  if (count > kLongRow) {
    run(Team<kThreads>{}, static_cast<unsigned>(rows));
  } else {
    constexpr int kRows = kThreads / kWarp;
    run(Team<kWarp>{}, static_cast<unsigned>((rows + kRows - 1) / kRows));
  }
}

/// Calls run(T{}, team, blocks, rows, count) for the rows of x, if it has any.
template <class Run>
void over_rows(const Tensor& x, const char* where, const Run& run) {
  if (x.numel() == 0) return;
  const std::int64_t count = x.size(-1);
  const std::int64_t rows = x.numel() / count;
  dispatch_numbers(x.dtype(), where, [&](auto zero) {
    with_team(rows, count,
              [&](auto team, unsigned blocks) { run(zero, team, blocks, rows, count); });
  });
  check_launch();
}

}  // namespace attn::gpu
