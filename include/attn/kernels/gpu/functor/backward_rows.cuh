/// What backward keeps for each query: stat, delta and the sums of dQ, and the small kernels
/// before and after the large one.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "attn/kernels/gpu/functor/copy.cuh"
#include "attn/kernels/gpu/functor/dispatch.cuh"
#include "attn/kernels/gpu/functor/mma.cuh"
#include "attn/kernels/gpu/functor/stages.cuh"

namespace attn::gpu {

struct BackwardRows {
  View<const float, 3> stat;
  float* delta = nullptr;  ///< [batch, head, query]
  int queries = 0;
  int keys = 0;
  int heads = 0;
  int group = 1;

  __device__ __forceinline__ std::int64_t row(int batch, int head, int q) const {
    return (static_cast<std::int64_t>(batch) * heads + head) * queries + q;
  }
  /// Where the sums of dQ for 16 rows from q on begin: 16 x 8 blocks, a lane's four numbers
  /// side by side, so that adding them is one access of 512 bytes a warp.
  __device__ __forceinline__ std::int64_t sums_place(int batch, int head, int q,
                                                     int channels) const {
    const int tiles = (queries + 15) / 16;
    return ((static_cast<std::int64_t>(batch) * heads + head) * tiles + q / 16) * 16 * channels;
  }

  /// stat and delta of kQueries rows, in the background; 0 past the end.
  template <int kQueries>
  __device__ __forceinline__ void fetch(float* stat_tile, float* delta_tile, int batch,
                                        int head, int q) const {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= kQueries) return;
    const bool there = q + i < queries;
    const int from = there ? q + i : q;
    copy_number(stat_tile + i, stat.at(batch, head, from), there);
    copy_number(delta_tile + i, delta + row(batch, head, from), there);
  }

 private:
  __device__ __forceinline__ static void copy_number(float* to, const float* from, bool there) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    const int bytes = there ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from),
                 "r"(bytes)
                 : "memory");
  }
};

/// Writes the sums of 16 rows from `row` on, as far as they exist, times `scale`.
template <class T, int kBlocks>
__device__ __forceinline__ void store_rows(const DeviceView<T>& to, int batch, int head,
                                           int row, int end, const Block16x8 (&sums)[kBlocks],
                                           float scale) {
  if (to.data == nullptr) return;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int k = row + (lane_id() >> 2) + 8 * half;
    if (k >= end) continue;
#pragma unroll
    for (int j = 0; j < kBlocks; ++j)
      store_pair(to.rows(batch, head), k, 8 * j + 2 * (lane_id() & 3),
                 scale * sums[j][2 * half], scale * sums[j][2 * half + 1]);
  }
}

/// Adds a block of sums to block number `block` of those at `sums`.
__device__ __forceinline__ void add_block(float* sums, int block, const Block16x8& x) {
  float* const to = sums + (block * 32 + lane_id()) * 4;
#if __CUDA_ARCH__ >= 900
  atomicAdd(reinterpret_cast<float4*>(to), make_float4(x[0], x[1], x[2], x[3]));
#else
  for (int e = 0; e < 4; ++e) atomicAdd(to + e, x[e]);
#endif
}

/// Bytes of the sums of dQ and of delta.
template <class T>
std::size_t backward_sums_bytes(const BackwardArgs<T>& args, int channels) {
  const auto heads = static_cast<std::size_t>(args.q.shape[0] * args.q.shape[1]);
  const auto tiles = static_cast<std::size_t>((args.q.shape[2] + 15) / 16);
  return heads * tiles * 16 * static_cast<std::size_t>(channels) * sizeof(float);
}
template <class T>
std::size_t backward_workspace_bytes(const BackwardArgs<T>& args, int channels) {
  const auto rows =
      static_cast<std::size_t>(args.q.shape[0] * args.q.shape[1] * args.q.shape[2]);
  return backward_sums_bytes(args, channels) + rows * sizeof(float);
}
template <class T>
std::size_t backward_workspace_bytes(const BackwardArgs<T>& args) {
  return backward_workspace_bytes(
      args, padded_head_size("attn::gpu::backward", args.q.shape[3], args.v.shape[3]));
}

template <class T>
struct BackwardProblem {
  DeviceView<const T> q, k, v, out, d_out;
  DeviceView<T> dq, dk, dv;
  View<const float, 3> d_stat;
  BackwardRows rows;
  float* dq_sums = nullptr;  ///< null: dQ is not wanted
  std::size_t dq_bytes = 0;
  std::int64_t row_count = 0;
  int first_block = 0;  ///< of the blocks of keys that a launch works on
  int blocks = 0;

  BackwardProblem(const BackwardArgs<T>& args, int channels, void* workspace)
      : q(args.q),
        k(args.k),
        v(args.v),
        out(args.out),
        d_out(args.d_out),
        dq(args.dq),
        dk(args.dk),
        dv(args.dv),
        d_stat(args.d_stat) {
    rows.stat = args.stat;
    rows.queries = static_cast<int>(args.q.shape[2]);
    rows.keys = static_cast<int>(args.k.shape[2]);
    rows.heads = static_cast<int>(args.q.shape[1]);
    rows.group = static_cast<int>(args.q.shape[1] / args.k.shape[1]);
    row_count = args.q.shape[0] * args.q.shape[1] * args.q.shape[2];
    dq_bytes = backward_sums_bytes(args, channels);
    rows.delta = reinterpret_cast<float*>(static_cast<char*>(workspace) + dq_bytes);
    if (args.dq.data != nullptr) dq_sums = static_cast<float*>(workspace);
  }
};

/// a . b for one row by a warp; each lane gets its share of the sum.
template <class T>
__device__ __forceinline__ float share_of_product(const DeviceRows<const T>& a,
                                                  const DeviceRows<const T>& b, int row) {
  float sum = 0.0f;
  if constexpr (sizeof(T) == 2) {
    if (a.whole && b.whole) {  // four numbers at a time
      for (int c = 4 * lane_id(); c < a.channels; c += 128) {
        const uint2 x = *reinterpret_cast<const uint2*>(a.at(row) + c);
        const uint2 y = *reinterpret_cast<const uint2*>(b.at(row) + c);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          sum += to_float(reinterpret_cast<const T*>(&x)[i]) *
                 to_float(reinterpret_cast<const T*>(&y)[i]);
      }
      return sum;
    }
  }
  for (int c = lane_id(); c < a.channels; c += 32)
    sum += to_float(a.at(row)[c * a.channel]) * to_float(b.at(row)[c * b.channel]);
  return sum;
}

/// delta of each row, a warp a row: the sum of weight * d_weight, which is d_out . out, less
/// the gradient of stat; 0 where weights stand alone. The normaliser's tables get theirs here.
template <class T, class St>
__global__ void __launch_bounds__(128)
    delta_kernel(const __grid_constant__ BackwardProblem<T> problem,
                 const __grid_constant__ St stages,
                 const __grid_constant__ StagesGrads<St> grads, bool coupled) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * 4 + threadIdx.x / 32;
  if (row >= problem.row_count) return;
  const int q = static_cast<int>(row % problem.rows.queries);
  const int head = static_cast<int>(row / problem.rows.queries % problem.rows.heads);
  const int batch = static_cast<int>(row / problem.rows.queries / problem.rows.heads);
  float delta = 0.0f;
  if (coupled) {
    delta = share_of_product(problem.out.rows(batch, head), problem.d_out.rows(batch, head), q);
    delta = warp_sum(delta);
    if (problem.d_stat.data != nullptr) delta -= *problem.d_stat.at(batch, head, q);
  }
  if (lane_id() != 0) return;
  problem.rows.delta[row] = delta;
  if constexpr (St::kNormaliserTables > 0) {
    float sums[St::kNormaliserTables] = {};
    const DeviceParams p{stages.normaliser_tables.data, batch, head, q};
    const DeviceGrads<St::kNormaliserTables> g{grads.normaliser.data, sums, batch, head, q};
    if constexpr (requires { stages.normaliser.backward_row(delta, delta, p, g); }) {
      stages.normaliser.backward_row(*problem.rows.stat.at(batch, head, q), delta, p, g);
      for (int slot = 0; slot < St::kNormaliserTables; ++slot) g.at(slot, 0, sums[slot]);
    }
  }
}

/// The sums of dQ, times the scale, as dQ: a warp a 16 x 8 block.
template <class T, int kDim>
__global__ void __launch_bounds__(128)
    query_grad_kernel(const __grid_constant__ BackwardProblem<T> problem, std::int64_t blocks,
                      float scale) {
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * 4 + threadIdx.x / 32;
  if (block >= blocks) return;
  constexpr int kAcross = kDim / 8;
  const int tiles = (problem.rows.queries + 15) / 16;
  const int column = static_cast<int>(block % kAcross) * 8 + 2 * (lane_id() & 3);
  const std::int64_t tile = block / kAcross;
  const int q = static_cast<int>(tile % tiles) * 16 + (lane_id() >> 2);
  const int head = static_cast<int>(tile / tiles % problem.rows.heads);
  const int batch = static_cast<int>(tile / tiles / problem.rows.heads);
  const auto to = problem.dq.rows(batch, head);
  const float4 x = reinterpret_cast<const float4*>(problem.dq_sums)[block * 32 + lane_id()];
  if (q < problem.rows.queries) store_pair(to, q, column, scale * x.x, scale * x.y);
  if (q + 8 < problem.rows.queries) store_pair(to, q + 8, column, scale * x.z, scale * x.w);
}

template <int kDim, class T, class St>
void start_backward(const BackwardProblem<T>& problem, const St& stages,
                    const StagesGrads<St>& grads, cudaStream_t stream) {
  if (problem.dq_sums != nullptr && problem.dq_bytes > 0)
    ATTN_CUDA_CALL(cudaMemsetAsync(problem.dq_sums, 0, problem.dq_bytes, stream));
  const bool coupled = coupling_of(stages.normaliser) == Coupling::output;
  launch("attn::gpu::backward", delta_kernel<T, St>, (problem.row_count + 3) / 4, 128, 0,
         stream, problem, stages, grads, coupled);
}

template <int kDim, class T>
void finish_backward(const BackwardProblem<T>& problem, float scale, cudaStream_t stream) {
  if (problem.dq_sums == nullptr) return;
  const auto pieces = static_cast<std::int64_t>(problem.dq_bytes / (128 * sizeof(float)));
  launch("attn::gpu::backward", query_grad_kernel<T, kDim>, (pieces + 3) / 4, 128, 0, stream,
         problem, pieces, scale);
}

}  // namespace attn::gpu
