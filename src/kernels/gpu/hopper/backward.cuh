/// Attention backward on Hopper: the portable kernel's loop
/// (attn/kernels/gpu/functor/backward.cuh) with products by warpgroups and tiles that a warp of
/// its own fetches. After Shah et al., 2024, arXiv:2407.08608.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/functor/backward.cuh"
#include "attn/kernels/gpu/functor/backward_rows.cuh"
#include "attn/kernels/gpu/functor/hidden.cuh"
#include "attn/kernels/gpu/functor/visit.cuh"
#include "kernels/gpu/hopper/barrier.cuh"
#include "kernels/gpu/hopper/tensor_map.cuh"
#include "kernels/gpu/hopper/tiles.cuh"
#include "kernels/gpu/hopper/wgmma.cuh"

namespace attn::gpu::hopper {

struct BackwardMaps {
  CUtensorMap q, k, v, d_out;
};

/// What the fetching warp says about a tile of queries.
struct FetchedQueries {
  int head;
  int tile;
  bool ask;        ///< the mask keeps some of its pairs, not all
  bool last_tile;  ///< of this head
};

/// Shared memory of a block; it begins at a multiple of 1024 bytes.
template <class Tile>
struct BackwardMemory {
  static constexpr int kHalves = Tile::kChannels / kWidth;

  Matrix<Tile::kKeys, kHalves> k, v;
  struct {
    Matrix<Tile::kQueries, kHalves> q, d_out;
  } queries[Tile::kStages];
  Matrix<Tile::kKeys, 1> d_scores[Tile::kScoreStages];  ///< [key][query]
  float stat[Tile::kStages][Tile::kQueries];
  float delta[Tile::kStages][Tile::kQueries];
  FetchedQueries fetched[Tile::kStages];
  Barrier keys_here;
  Barrier full[Tile::kStages], empty[Tile::kStages];
  Barrier scores_full[Tile::kScoreStages], scores_empty[Tile::kScoreStages];
};

template <class T, class Tile, class St>
struct BackwardFetcher {
  using Memory = BackwardMemory<Tile>;

  const BackwardProblem<T>& problem;
  const BackwardMaps& maps;
  const St& stages;
  Memory& memory;
  int batch;
  int kv_head;
  int first;  ///< key

  /// All lanes of one warp.
  __device__ __forceinline__ void operator()() const {
    const BackwardRows& rows = problem.rows;
    const int last_head = (kv_head + 1) * rows.group;
    const auto find = [&](const QueryTile& from) {
      return find_queries<Tile, OneWarp>(stages.mask, rows, batch, last_head, first, from);
    };
    if (lane_id() == 0) fetch_keys();
    QueryTile here = find({kv_head * rows.group, {}});
    for (int turn = 0;; ++turn) {
      const int stage = turn % Tile::kStages;
      memory.empty[stage].wait((turn / Tile::kStages & 1) ^ 1);
      if (here.head >= last_head) {
        if (lane_id() == 0) memory.fetched[stage] = {last_head, 0, false, true};
        memory.full[stage].arrive();
        return;
      }
      const int query = here.visit.tile * Tile::kQueries;
      if (lane_id() == 0) fetch_queries(stage, here.head, query);
      QueryTile next = here;
      ++next.visit.tile;
      next = find(next);
      if (lane_id() == 0)
        memory.fetched[stage] = {here.head, here.visit.tile, here.visit.cover != Cover::all,
                                 next.head != here.head};
#pragma unroll
      for (int i = lane_id(); i < Tile::kQueries; i += 32) {
        const bool there = query + i < rows.queries;
        memory.stat[stage][i] = there ? __ldg(rows.stat.at(batch, here.head, query + i)) : 0.0f;
        memory.delta[stage][i] =
            there ? rows.delta[rows.row(batch, here.head, query + i)] : 0.0f;
      }
      memory.full[stage].arrive();
      here = next;
    }
  }

 private:
  __device__ __forceinline__ void fetch_keys() const {
    memory.keys_here.expect(sizeof(memory.k) + sizeof(memory.v));
#pragma unroll
    for (int half = 0; half < Memory::kHalves; ++half) {
      copy_box(memory.k.half[half], maps.k, half * kWidth, first, kv_head, batch,
               memory.keys_here);
      copy_box(memory.v.half[half], maps.v, half * kWidth, first, kv_head, batch,
               memory.keys_here);
    }
    memory.keys_here.arrive();
  }
  __device__ __forceinline__ void fetch_queries(int stage, int head, int query) const {
    auto& to = memory.queries[stage];
    Barrier& full = memory.full[stage];
    full.expect(sizeof(to));
#pragma unroll
    for (int half = 0; half < Memory::kHalves; ++half) {
      copy_box(to.q.half[half], maps.q, half * kWidth, query, head, batch, full);
      copy_box(to.d_out.half[half], maps.d_out, half * kWidth, query, head, batch, full);
    }
  }
};

/// dQ of the block's keys for one tile of queries: this warpgroup's half of the channels.
template <class T, class Tile>
__device__ __forceinline__ void query_grads(Block16x8 (&dq)[Tile::kChannels / 16],
                                            const BackwardMemory<Tile>& memory, int stage,
                                            int group) {
  const int channel = group * (Tile::kChannels / 2);
  const std::uint64_t a = operand(memory.d_scores[stage].half[0]);
  const std::uint64_t b =
      operand(memory.k.half[channel / kWidth] + channel % kWidth * static_cast<int>(sizeof(T)));
#pragma unroll
  for (int key = 0; key < Tile::kKeys; key += 16)
    multiply<T, true, true>(dq, advance(a, key * kRowBytes), advance(b, key * kRowBytes),
                            key > 0);
}

template <class T, int kDim, class St, bool kGrads>
__global__ void __launch_bounds__(BackwardTile<kDim>::kAllThreads, 1)
    backward_kernel(const __grid_constant__ BackwardProblem<T> problem,
                    const __grid_constant__ BackwardMaps maps,
                    const __grid_constant__ St stages,
                    const __grid_constant__ StagesGrads<St> table_grads) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Tile = BackwardTile<kDim>;
  using Memory = BackwardMemory<Tile>;
  extern __shared__ __align__(1024) unsigned char raw[];
  Memory& memory = *reinterpret_cast<Memory*>(raw);
  const BackwardRows& rows = problem.rows;

  const int place = static_cast<int>(blockIdx.x) / problem.blocks;
  const int first =
      (problem.first_block + static_cast<int>(blockIdx.x) % problem.blocks) * Tile::kKeys;
  const int kv_heads = rows.heads / rows.group;
  const int kv_head = place % kv_heads;
  const int batch = place / kv_heads;
  const int warp = static_cast<int>(threadIdx.x) / 32;

  if (threadIdx.x == 0) {
    memory.keys_here.start(1);
    for (int stage = 0; stage < Tile::kStages; ++stage) {
      // Every lane arrives by itself, where lanes write and read by themselves (stat, delta):
      // racecheck does not follow one that speaks for its warp.
      memory.full[stage].start(32);
      memory.empty[stage].start(Tile::kThreads);
    }
    for (int stage = 0; stage < Tile::kScoreStages; ++stage) {
      memory.scores_full[stage].start(Tile::kWarps);
      memory.scores_empty[stage].start(Tile::kWarps);
    }
    fence_started_barriers();
  }
  __syncthreads();
  if (warp >= Tile::kWarps) {
    give_registers<kFetcherRegisters>();
    if (warp == Tile::kWarps)
      BackwardFetcher<T, Tile, St>{problem, maps, stages, memory, batch, kv_head, first}();
    return;
  }
  take_registers<kMultiplierRegisters>();

  const int group = __shfl_sync(0xffffffffu, warp / 4, 0);  // one for all lanes, says this
  const int warp_row = 16 * warp;
  const int last_head = (kv_head + 1) * rows.group;
  constexpr bool kScoreGrads = kGrads && St::kScoreTables > 0;
  using G = std::conditional_t<kScoreGrads, DeviceGrads<St::kScoreTables>, NoGrads>;
  [[maybe_unused]] float score_sums[St::kScoreTables > 0 ? St::kScoreTables : 1] = {};
  const bool wants_queries = problem.dq_sums != nullptr;

  memory.keys_here.wait(0);
  // A key that nobody sees may be anything, and meets d_scores of 0 on its way into dQ.
  if constexpr (kMayHide<St>) {
    clear_non_finite_words<T, Tile::kThreads>(memory.k);
    fence_for_matrix_units();
    wait_for_each_other<Tile::kThreads>(1);
  }

  Block16x8 dk[kDim / 8] = {};
  Block16x8 dv[kDim / 8] = {};
  // dQ is made one turn late, when the other warpgroup's d_scores are long written.
  const auto add_queries = [&](Block16x8(&dq)[kDim / 16], int head, int query) {
    if (query + 16 * (warp & 3) >= rows.queries) return;  // the workspace ends there
    float* const sums = problem.dq_sums + rows.sums_place(batch, head, query, kDim);
#  pragma unroll
    for (int j = 0; j < kDim / 16; ++j)
      add_block(sums, (warp & 3) * (kDim / 8) + kDim / 16 * group + j, dq[j]);
  };

  int turn = 0;
  int head_before = 0;
  int query_before = 0;
  for (;; ++turn) {
    const int stage = turn % Tile::kStages;
    memory.full[stage].wait(turn / Tile::kStages & 1);
    const FetchedQueries here = memory.fetched[stage];
    if (here.head >= last_head) break;
    const auto& tile = memory.queries[stage];
    const int query = here.tile * Tile::kQueries;

    Block16x8 s[1][8];
    Block16x8 d[1][8];
    begin_products();
    rows_by_rows<T>(s[0], memory.k, 64 * group, tile.q);
    rows_by_rows<T>(d[0], memory.v, 64 * group, tile.d_out);
    end_products();
    wait_for_products<0>();
    pin(s[0]);
    pin(d[0]);

    G score_grads{};
    if constexpr (kScoreGrads)
      score_grads = {table_grads.score.data, score_sums, batch, here.head, 0};
    ScoreGradients<Tile, St, G, NoGrads> gradients{stages, rows,      score_grads,      {},
                                                   batch,  here.head, first + warp_row, query};
    const bool edge = query + Tile::kQueries > rows.queries || first + Tile::kKeys > rows.keys;
    if (!here.ask && !edge) {
      gradients(s, d, memory.stat[stage], memory.delta[stage], false, false);
    } else {
      gradients(s, d, memory.stat[stage], memory.delta[stage], true, here.ask);
    }
    if constexpr (kScoreGrads)
      if (here.last_tile) score_grads.flush_head();

    typename Mma<T>::A weights[Tile::kQueries / 16];
    typename Mma<T>::A d_scores[Tile::kQueries / 16];
    pack<T>(weights, s[0]);
    pack<T>(d_scores, d[0]);

    const int score_stage = turn % Tile::kScoreStages;
    if (wants_queries) {
      memory.scores_empty[score_stage].wait((turn / Tile::kScoreStages & 1) ^ 1);
#  pragma unroll
      for (int step = 0; step < Tile::kQueries / 16; ++step)
        store_operand(memory.d_scores[score_stage].half[0], warp_row, 2 * step, d_scores[step]);
      fence_for_matrix_units();
      leave(memory.scores_full[score_stage]);
    }

    const bool late = wants_queries && turn > 0;
    static_assert(Tile::kScoreStages == 2);
    const int late_stage = (turn + 1) % Tile::kScoreStages;
    Block16x8 dq[kDim / 16];
    if (late) memory.scores_full[late_stage].wait((turn - 1) / Tile::kScoreStages & 1);
    begin_products();
    // Without a tile before this one it multiplies anything, and nobody looks.
    query_grads<T, Tile>(dq, memory, late_stage, group);
    end_products();
    add_product<T>(dv, weights, tile.d_out);
    add_product<T>(dk, d_scores, tile.q);
    end_products();
    wait_for_products<1>();
    pin(dq);
    if (late) {
      leave(memory.scores_empty[late_stage]);
      add_queries(dq, head_before, query_before);
    }
    wait_for_products<0>();
    pin(dk);
    pin(dv);
    memory.empty[stage].arrive();
    head_before = here.head;
    query_before = query;
  }
  if (wants_queries && turn > 0) {
    const int late_stage = (turn - 1) % Tile::kScoreStages;
    memory.scores_full[late_stage].wait((turn - 1) / Tile::kScoreStages & 1);
    Block16x8 dq[kDim / 16];
    begin_products();
    query_grads<T, Tile>(dq, memory, late_stage, group);
    end_products();
    wait_for_products<0>();
    pin(dq);
    add_queries(dq, head_before, query_before);
  }

  store_rows(problem.dk, batch, kv_head, first + warp_row, rows.keys, dk, stages.scale);
  store_rows(problem.dv, batch, kv_head, first + warp_row, rows.keys, dv, 1.0f);
#endif
}

/// As attn::gpu::launch_backward, on a GPU of compute capability 9.0.
template <int kDim, class T, class St>
void launch_backward(const BackwardArgs<T>& args, const St& stages,
                     const StagesGrads<St>& grads, void* workspace, cudaStream_t stream,
                     Determinism determinism) {
  using Tile = BackwardTile<kDim>;
  static_assert(!St::kRolled && !St::kHasFactor);
  BackwardProblem<T> problem(args, kDim, workspace);
  start_backward<kDim>(problem, stages, grads, stream);
  const BackwardMaps maps{
      tensor_map<T>(args.q, Tile::kQueries), tensor_map<T>(args.k, Tile::kKeys),
      tensor_map<T>(args.v, Tile::kKeys), tensor_map<T>(args.d_out, Tile::kQueries)};
  const std::int64_t key_heads = args.k.shape[0] * args.k.shape[1];
  const int blocks = (problem.rows.keys + Tile::kKeys - 1) / Tile::kKeys;
  const auto run = [&]<bool kGrads>() {
    launch("attn::gpu::backward", backward_kernel<T, kDim, St, kGrads>,
           key_heads * problem.blocks, Tile::kAllThreads, sizeof(BackwardMemory<Tile>), stream,
           problem, maps, stages, grads);
  };
  // In one launch a block of keys adds to each dQ once, so launches in order add in order.
  problem.blocks = determinism == Determinism::repeatable ? 1 : blocks;
  for (; problem.first_block < blocks; problem.first_block += problem.blocks) {
    if constexpr (St::kScoreTables > 0) {
      if (grads.score.wanted()) {
        run.template operator()<true>();
        continue;
      }
    }
    run.template operator()<false>();
  }
  finish_backward<kDim>(problem, stages.scale, stream);
}

}  // namespace attn::gpu::hopper
