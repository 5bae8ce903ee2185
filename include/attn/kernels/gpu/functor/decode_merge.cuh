/// Merges the results of parts of the keys: the second kernel of everything that cuts them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "attn/core/view.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "attn/kernels/gpu/functor/stages.cuh"
#include "attn/pool/state.hpp"

namespace attn::gpu {

/// Results of parts, row by row: row = (batch * heads + head) * queries + query.
struct Partials {
  float* out = nullptr;  ///< [rows, splits, channels], each divided by its own sum
  float* lse = nullptr;  ///< [rows, splits]
  int splits = 1;

  static std::size_t bytes(std::int64_t rows, int splits, int channels) {
    return splits == 1 ? 0
                       : static_cast<std::size_t>(rows) * static_cast<std::size_t>(splits) *
                             static_cast<std::size_t>(channels + 1) * sizeof(float);
  }
  static Partials in(void* workspace, std::int64_t rows, int splits, int channels) {
    auto* out = static_cast<float*>(workspace);
    return {out, out + rows * splits * channels, splits};
  }
};

/// Where finished rows go, and the normaliser that finishes them.
template <class T, class N>
struct RowWriter {
  View<T, 4> out;
  View<StatOf<T>, 3> stat;
  N normaliser;
  DeviceTable tables[score::kTablesOf<N> > 0 ? score::kTablesOf<N> : 1];

  /// What the pooled values of a row with this log-sum-exp are multiplied by; one thread of a
  /// row writes its stat. A softmax over all keys is one key with the sum's score.
  __device__ float finish(int b, int h, int i, float lse, bool writes_stat) const {
    const DeviceParams p{tables, b, h, i};
    const float mass = lse > -kInfinity ? 1.0f : 0.0f;
    const Row<float> row = normaliser.finish(lse, mass, p);
    if (writes_stat && stat.data != nullptr) *stat.at(b, h, i) = row.stat;
    return row.scale;
  }
};

inline constexpr int kMergeWarps = 8;
inline constexpr int kMergeChannels = 256;  ///< merged at a time

/// One block a row. Each warp folds some of the parts, then each thread folds the warps.
template <class T, class N>
__global__ void __launch_bounds__(32 * kMergeWarps)
    merge_kernel(const __grid_constant__ Partials parts,
                 const __grid_constant__ RowWriter<T, N> writer) {
  __shared__ float outs[kMergeWarps][kMergeChannels];
  __shared__ float sums[kMergeWarps];
  constexpr int kEach = kMergeChannels / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const auto row = static_cast<std::int64_t>(blockIdx.x);
  const int heads = static_cast<int>(writer.out.shape[1]);
  const int queries = static_cast<int>(writer.out.shape[2]);
  const int channels = static_cast<int>(writer.out.shape[3]);
  const int i = static_cast<int>(row % queries);
  const int h = static_cast<int>(row / queries % heads);
  const int b = static_cast<int>(row / queries / heads);
  const float* lse_of = parts.lse + row * parts.splits;

  for (int first = 0; first == 0 || first < channels; first += kMergeChannels) {
    float lse = -kInfinity;
    float out[kEach] = {};
    for (int s = warp; s < parts.splits; s += kMergeWarps) {
      const pool::Mix<float> by = pool::mix(lse, lse_of[s]);
      const float* part = parts.out + (row * parts.splits + s) * channels + first;
#pragma unroll
      for (int x = 0; x < kEach; ++x) {
        const int c = x * 32 + lane;
        if (first + c < channels) out[x] = pool::mixed(by, out[x], part[c]);
      }
      lse = by.lse;
    }
    if (lane == 0) sums[warp] = lse;
#pragma unroll
    for (int x = 0; x < kEach; ++x) outs[warp][x * 32 + lane] = out[x];
    __syncthreads();
    const int c = static_cast<int>(threadIdx.x);
    float all = sums[0];
    float total = outs[0][c];
    for (int w = 1; w < kMergeWarps; ++w) {
      const pool::Mix<float> by = pool::mix(all, sums[w]);
      total = pool::mixed(by, total, outs[w][c]);
      all = by.lse;
    }
    const float scale = writer.finish(b, h, i, all, first == 0 && c == 0);
    if (first + c < channels)
      *writer.out.at(b, h, i, first + c) = T(scale > 0.0f ? total * scale : 0.0f);
    __syncthreads();
  }
}

template <class T, class N>
void launch_merge(const Partials& parts, const RowWriter<T, N>& writer, cudaStream_t stream) {
  const std::int64_t rows = writer.out.shape[0] * writer.out.shape[1] * writer.out.shape[2];
  merge_kernel<T, N>
      <<<static_cast<unsigned>(rows), 32 * kMergeWarps, 0, stream>>>(parts, writer);
  ATTN_CUDA_CALL(cudaGetLastError());
}

}  // namespace attn::gpu
