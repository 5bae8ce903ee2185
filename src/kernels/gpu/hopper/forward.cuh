/// Attention forward on Hopper: the portable kernel's loop
/// (attn/kernels/gpu/functor/forward.cuh) with products by warpgroups and tiles that a warp of
/// its own fetches. A tile's weights meet its values while the next tile's scores are made, so
/// that the matrix units have work meanwhile. After Shah et al., 2024, arXiv:2407.08608.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/functor/forward.cuh"
#include "attn/kernels/gpu/functor/visit.cuh"
#include "kernels/gpu/hopper/barrier.cuh"
#include "kernels/gpu/hopper/tensor_map.cuh"
#include "kernels/gpu/hopper/tiles.cuh"
#include "kernels/gpu/hopper/wgmma.cuh"

namespace attn::gpu::hopper {

struct ForwardMaps {
  CUtensorMap q, k, v;
};

/// What the fetching warp says about a tile of keys.
struct FetchedKeys {
  int tile;  ///< negative: there are no more
  bool ask;  ///< the mask keeps some of its pairs, not all

  /// For all lanes of a warp, read by the one that says when they leave.
  __device__ __forceinline__ FetchedKeys for_warp() const {
    const int both = lane_id() == 0 ? 2 * tile + (ask ? 1 : 0) : 0;
    const int all = __shfl_sync(0xffffffffu, both, 0);
    return {all >> 1, (all & 1) != 0};
  }
};

/// Shared memory of a block; it begins at a multiple of 1024 bytes.
template <class Tile>
struct ForwardMemory {
  static constexpr int kHalves = Tile::kChannels / kWidth;

  Matrix<Tile::kQueries, kHalves> q;
  Matrix<Tile::kKeys, kHalves> k[Tile::kStages], v[Tile::kStages];
  FetchedKeys fetched[Tile::kStages];
  Barrier queries_here;
  Barrier k_full[Tile::kStages], k_empty[Tile::kStages];
  Barrier v_full[Tile::kStages], v_empty[Tile::kStages];
};

template <class T, class Tile, class St>
struct ForwardFetcher {
  using Memory = ForwardMemory<Tile>;

  const ForwardProblem<T>& problem;
  const ForwardMaps& maps;
  const St& stages;
  Memory& memory;
  int batch;
  int head;
  int first;  ///< query

  /// All lanes of one warp.
  __device__ __forceinline__ void operator()() const {
    const int kv_head = head / problem.group;
    const int tiles = (problem.keys + Tile::kKeys - 1) / Tile::kKeys;
    const bool leads = lane_id() == 0;
    if (leads) fetch(memory.q, maps.q, first, head, memory.queries_here);
    Visit visit = find(0, tiles);
    for (int turn = 0;; ++turn) {
      const int stage = turn % Tile::kStages;
      const int free = (turn / Tile::kStages & 1) ^ 1;
      memory.k_empty[stage].wait(free);
      if (visit.tile >= tiles) {
        if (leads) {
          memory.fetched[stage] = {-1, false};
          memory.k_full[stage].arrive();
        }
        return;
      }
      if (leads) {
        memory.fetched[stage] = {visit.tile, visit.cover != Cover::all};
        fetch(memory.k[stage], maps.k, visit.tile * Tile::kKeys, kv_head, memory.k_full[stage]);
      }
      memory.v_empty[stage].wait(free);
      if (leads)
        fetch(memory.v[stage], maps.v, visit.tile * Tile::kKeys, kv_head, memory.v_full[stage]);
      visit = find(visit.tile + 1, tiles);
    }
  }

 private:
  __device__ __forceinline__ Visit find(int tile, int tiles) const {
    return next_visit<OneWarp>(stages.mask, tile, tiles, [&](int at) {
      return Block{batch,
                   head,
                   {first, min(first + Tile::kQueries, problem.queries)},
                   {at * Tile::kKeys, min((at + 1) * Tile::kKeys, problem.keys)}};
    });
  }
  template <int kRows>
  __device__ __forceinline__ void fetch(Matrix<kRows, Memory::kHalves>& to,
                                        const CUtensorMap& map, int row, int of_head,
                                        Barrier& full) const {
    full.expect(sizeof(to));
#pragma unroll
    for (int half = 0; half < Memory::kHalves; ++half)
      copy_box(to.half[half], map, half * kWidth, row, of_head, batch, full);
    full.arrive();
  }
};

template <class T, int kDim, class St>
__global__ void __launch_bounds__(ForwardTile<kDim>::kAllThreads, 1)
    forward_kernel(const __grid_constant__ ForwardProblem<T> problem,
                   const __grid_constant__ ForwardMaps maps,
                   const __grid_constant__ St stages) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Tile = ForwardTile<kDim>;
  using Memory = ForwardMemory<Tile>;
  extern __shared__ __align__(1024) unsigned char raw[];
  Memory& memory = *reinterpret_cast<Memory*>(raw);

  const int blocks = (problem.queries + Tile::kQueries - 1) / Tile::kQueries;
  const int place = static_cast<int>(blockIdx.x) / blocks;
  // The last queries first: under a causal mask they have most to do.
  const int first = (blocks - 1 - static_cast<int>(blockIdx.x) % blocks) * Tile::kQueries;
  const int head = place % problem.heads;
  const int batch = place / problem.heads;
  const int warp = static_cast<int>(threadIdx.x) / 32;

  if (threadIdx.x == 0) {
    memory.queries_here.start(1);
    for (int stage = 0; stage < Tile::kStages; ++stage) {
      memory.k_full[stage].start(1);
      memory.v_full[stage].start(1);
      memory.k_empty[stage].start(Tile::kWarps);
      memory.v_empty[stage].start(Tile::kWarps);
    }
    fence_started_barriers();
  }
  __syncthreads();
  if (warp >= Tile::kWarps) {
    give_registers<kFetcherRegisters>();
    if (warp == Tile::kWarps)
      ForwardFetcher<T, Tile, St>{problem, maps, stages, memory, batch, head, first}();
    return;
  }
  take_registers<kMultiplierRegisters>();

  const int group = __shfl_sync(0xffffffffu, warp / 4, 0);
  const int query = first + 16 * warp;
  const bool whole_rows = first + Tile::kQueries <= problem.queries;
  Pool<Tile> pool(std::remove_cvref_t<decltype(stages.normaliser)>::kRunsMax ? -kInfinity
                                                                             : 0.0f);
  Block16x8 s[1][Tile::kKeys / 8];
  typename Mma<T>::A weights[Tile::kKeys / 16];
  float factors[1][2];
  const auto parity = [](int turn) { return turn / Tile::kStages & 1; };
  /// Scores become weights; whether what was pooled before must be multiplied by `factors`.
  const auto weigh_scores = [&](const FetchedKeys& here) {
    const int key = here.tile * Tile::kKeys;
    const ScorePlace scores{batch, head, query, key, problem.queries, problem.keys};
    modify<Tile>(stages, scores, s, here.ask, whole_rows && key + Tile::kKeys <= problem.keys);
    const bool rises = raise_references(stages, s, pool, factors);
    weigh(stages, s, pool, [&](int i, int j, int e) { return scores.clamped_site(i, j, e); });
    return rises;
  };

  memory.queries_here.wait(0);
  memory.k_full[0].wait(0);
  FetchedKeys here = memory.fetched[0].for_warp();
  if (here.tile >= 0) {
    begin_products();
    rows_by_rows<T>(s[0], memory.q, 64 * group, memory.k[0]);
    end_products();
    wait_for_products<0>();
    pin(s[0]);
    leave(memory.k_empty[0]);
    weigh_scores(here);
    pack<T>(weights, s[0]);
    int turn = 1;
    for (;; ++turn) {
      const int stage = turn % Tile::kStages;
      memory.k_full[stage].wait(parity(turn));
      here = memory.fetched[stage].for_warp();
      if (here.tile < 0) break;
      const int before = (turn - 1) % Tile::kStages;
      memory.v_full[before].wait(parity(turn - 1));
      begin_products();
      rows_by_rows<T>(s[0], memory.q, 64 * group, memory.k[stage]);
      end_products();
      add_product<T>(pool.out[0], weights, memory.v[before]);
      end_products();
      wait_for_products<1>();
      pin(s[0]);
      leave(memory.k_empty[stage]);
      const bool rises = weigh_scores(here);
      wait_for_products<0>();
      pin(pool.out[0]);
      leave(memory.v_empty[before]);
      if (rises) rescale(pool, factors);
      pack<T>(weights, s[0]);
    }
    const int before = (turn - 1) % Tile::kStages;
    memory.v_full[before].wait(parity(turn - 1));
    begin_products();
    add_product<T>(pool.out[0], weights, memory.v[before]);
    end_products();
    wait_for_products<0>();
    pin(pool.out[0]);
  }
  finish_rows<T>(problem, stages, pool, batch, head, query);
#endif
}

/// As attn::gpu::launch_forward, on a GPU of compute capability 9.0.
template <int kDim, class T, class St>
void launch_forward(const ForwardArgs<T>& args, const St& stages, cudaStream_t stream) {
  using Tile = ForwardTile<kDim>;
  static_assert(!St::kRolled && !St::kHasFactor);
  const ForwardProblem<T> problem(args);
  const ForwardMaps maps{tensor_map<T>(args.q, Tile::kQueries),
                         tensor_map<T>(args.k, Tile::kKeys),
                         tensor_map<T>(args.v, Tile::kKeys)};
  const std::int64_t blocks = args.q.shape[0] * args.q.shape[1] *
                              ((args.q.shape[2] + Tile::kQueries - 1) / Tile::kQueries);
  launch("attn::gpu::forward", forward_kernel<T, kDim, St>, blocks, Tile::kAllThreads,
         sizeof(ForwardMemory<Tile>), stream, problem, maps, stages);
}

}  // namespace attn::gpu::hopper
