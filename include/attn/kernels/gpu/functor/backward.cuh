/// Attention backward on the GPU: a block of keys passes over tiles of queries, makes their
/// scores again from the saved stat and adds up dK and dV; dQ is added in float in the
/// workspace. After Dao, 2023, arXiv:2307.08691.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/kernels/gpu/functor/backward_rows.cuh"
#include "attn/kernels/gpu/functor/copy.cuh"
#include "attn/kernels/gpu/functor/dispatch.cuh"
#include "attn/kernels/gpu/functor/hidden.cuh"
#include "attn/kernels/gpu/functor/mma.cuh"
#include "attn/kernels/gpu/functor/stages.cuh"
#include "attn/kernels/gpu/functor/tiles.cuh"
#include "attn/kernels/gpu/functor/visit.cuh"

namespace attn::gpu {

/// Which sums a launch makes: registers hold both up to 128 channels.
enum class Part { both, values, keys };

/// The tile of queries that a block works on, or fetches: they run through the heads that share
/// its keys.
struct QueryTile {
  int head = 0;
  Visit visit;
};

/// From a tile of queries on, the first that has anything to do with the tile of keys from
/// `first` on; the heads end at last_head.
template <class Tile, class Who = WholeBlock, class M>
__device__ __forceinline__ QueryTile find_queries(const M& mask, const BackwardRows& rows,
                                                  int batch, int last_head, int first,
                                                  QueryTile from) {
  const int tiles = (rows.queries + Tile::kQueries - 1) / Tile::kQueries;
  while (from.head < last_head) {
    const int head = from.head;
    from.visit = next_visit<Who>(mask, from.visit.tile, tiles, [&](int tile) {
      return Block{batch,
                   head,
                   {tile * Tile::kQueries, min((tile + 1) * Tile::kQueries, rows.queries)},
                   {first, min(first + Tile::kKeys, rows.keys)}};
    });
    if (from.visit.tile < tiles) return from;
    ++from.head;
    from.visit.tile = 0;
  }
  return from;
}

template <class T, class Tile>
struct BackwardShared {
  static constexpr int kKeySize = Tile::kKeys * Tile::kStride;
  static constexpr int kQuerySize = Tile::kQueries * Tile::kStride;
  static constexpr int kScoreSize = Tile::kKeys * Tile::kScoreStride;

  T* base;

  // clang-format off
  __device__ __forceinline__ T* k() const { return base; }
  __device__ __forceinline__ T* v() const { return base + kKeySize; }
  __device__ __forceinline__ T* q(int stage) const { return v() + kKeySize + 2 * stage * kQuerySize; }
  __device__ __forceinline__ T* d_out(int stage) const { return q(stage) + kQuerySize; }
  /// [key][query], of this tile and of the one before it.
  __device__ __forceinline__ T* d_scores(int turn) const { return q(Tile::kStages) + turn * kScoreSize; }
  __device__ __forceinline__ float* stat(int stage) const {
    return reinterpret_cast<float*>(d_scores(2)) + 2 * stage * Tile::kQueries;
  }
  __device__ __forceinline__ float* delta(int stage) const { return stat(stage) + Tile::kQueries; }
  // clang-format on
};

/// Adds d_scores^T k to the block's part of dQ, each warp its share of 16 x 16 pieces.
template <class T, class Tile>
__device__ __forceinline__ void add_query_grads(const T* d_scores, const T* k_tile, float* sums,
                                                int rows) {
  using Unit = Mma<T>;
  constexpr int kRowTiles = Tile::kQueries / 16;
  constexpr int kWarpsInRow = Tile::kWarps / kRowTiles;
  constexpr int kPairs = Tile::kChannels / 16 / kWarpsInRow;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row_tile = warp % kRowTiles;
  const int first = warp / kRowTiles * kPairs;
  if (16 * row_tile >= rows) return;  // the workspace ends with the last row's block
  Block16x8 dq[2 * kPairs] = {};
#pragma unroll
  for (int key = 0; key < Tile::kKeys; key += Unit::kDepth) {
    const auto a =
        Unit::template load_a_transposed<Tile::kScoreStride>(d_scores, 16 * row_tile, key);
#pragma unroll
    for (int j = 0; j < kPairs; ++j) {
      const auto b =
          Unit::template load_b_transposed<Tile::kStride>(k_tile, 16 * (first + j), key);
      Unit::multiply(&dq[2 * j], a, b);
    }
  }
#pragma unroll
  for (int j = 0; j < 2 * kPairs; ++j)
    add_block(sums, row_tile * (Tile::kChannels / 8) + 2 * first + j, dq[j]);
}

/// Scores and d_weights of one tile become weights and d_scores, in place.
template <class Tile, class St, class G, class F>
struct ScoreGradients {
  const St& stages;
  const BackwardRows& rows;
  G grads;  ///< of the score's tables
  F factor_grads;
  int batch;
  int head;
  int key;    ///< of the warp's first row
  int query;  ///< of the tile's first column

  __device__ __forceinline__ void operator()(
      Block16x8 (&s)[Tile::kRowTiles][Tile::kQueries / 8],
      Block16x8 (&d)[Tile::kRowTiles][Tile::kQueries / 8], const float* stat,
      const float* delta, bool checked, bool ask) {
    const int lane = lane_id();
    constexpr int kColumns = Tile::kQueries / 8;
    // Column by column: the scores of one query are next to each other for its gradients.
    constexpr int kUnroll = St::kRolled ? 1 : kColumns * 2;
    constexpr int kUnrollRows = St::kRolled ? 1 : Tile::kRowTiles * 2;
    float own_s[Tile::kRowTiles * 2][kColumns * 2];
    float own_d[Tile::kRowTiles * 2][kColumns * 2];
    if constexpr (St::kRolled) {
#pragma unroll
      for (int x = 0; x < Tile::kRowTiles * kColumns * 4; ++x) {
        const int i = x / (4 * kColumns), j = x / 4 % kColumns, e = x % 4;
        own_s[2 * i + (e >> 1)][2 * j + (e & 1)] = s[i][j][e];
        own_d[2 * i + (e >> 1)][2 * j + (e & 1)] = d[i][j][e];
      }
    }
#pragma unroll kUnroll
    for (int column = 0; column < kColumns * 2; ++column) {
      const int local = 8 * (column >> 1) + 2 * (lane & 3) + (column & 1);
      const bool row_exists = !checked || query + local < rows.queries;
      // Rows and keys past the end are asked about as the last ones, and thrown away.
      const int q = row_exists ? query + local : rows.queries - 1;
      const float row_stat = stat[local];
      const float row_delta = delta[local];
      bind(q);
#pragma unroll kUnrollRows
      for (int r = 0; r < Tile::kRowTiles * 2; ++r) {
        const int place = key + 16 * (r >> 1) + (lane >> 2) + 8 * (r & 1);
        const int k = checked ? min(place, rows.keys - 1) : place;
        const bool inside = row_exists & (k == place);
        if constexpr (St::kRolled) {
          one(own_s[r][column], own_d[r][column], q, k, inside, ask, row_stat, row_delta);
        } else {
          const int e = 2 * (r & 1) + (column & 1);
          one(s[r >> 1][column >> 1][e], d[r >> 1][column >> 1][e], q, k, inside, ask, row_stat,
              row_delta);
        }
      }
      if constexpr (!std::is_same_v<G, NoGrads>) grads.flush_row(row_exists);
      if constexpr (!std::is_same_v<F, NoGrads>) factor_grads.flush_row(row_exists);
    }
    if constexpr (St::kRolled) {
#pragma unroll
      for (int x = 0; x < Tile::kRowTiles * kColumns * 4; ++x) {
        const int i = x / (4 * kColumns), j = x / 4 % kColumns, e = x % 4;
        s[i][j][e] = own_s[2 * i + (e >> 1)][2 * j + (e & 1)];
        d[i][j][e] = own_d[2 * i + (e >> 1)][2 * j + (e & 1)];
      }
    }
  }

 private:
  __device__ __forceinline__ void bind(int q) {
    if constexpr (!std::is_same_v<G, NoGrads>) grads.q = q;
    if constexpr (!std::is_same_v<F, NoGrads>) factor_grads.q = q;
  }

  __device__ __forceinline__ void one(float& s, float& d, int q, int k, bool inside, bool ask,
                                      float stat, float delta) {
    const Site<float> at{batch, head, q, k};
    const bool kept = inside & kept_by<St::kRolled>(stages.mask, ask, at);
    // Gradients of tables must not see a masked score; without them it is computed and thrown
    // away, which is cheaper than a branch for each.
    constexpr bool kBranch =
        St::kRolled || !std::is_same_v<G, NoGrads> || !std::is_same_v<F, NoGrads>;
    if (kBranch && !kept) {
      s = 0.0f;
      d = 0.0f;
      return;
    }
    const DeviceParams p{stages.score_tables.data, batch, head, q};
    const float before = stages.scale * s;
    const float score = call_forward(stages.score, before, at, p);
    float weight = stages.normaliser.final_weight(score, stat, at);
    const float slope = stages.normaliser.final_slope(score, weight, stat, at);
    float d_weight = d;
    if constexpr (St::kHasFactor) {
      const DeviceParams fp{stages.factor_tables.data, batch, head, q};
      const FactorStage<std::remove_cvref_t<decltype(stages.factor)>> factor{stages.factor};
      const float pooled = call_forward(factor, weight, at, fp);
      d_weight = call_backward(factor, d, weight, at, fp, factor_grads, St::kFactorTables);
      weight = pooled;
    }
    const float d_score = slope * (d_weight - delta);
    const float d_before =
        call_backward(stages.score, d_score, before, at, p, grads, St::kScoreTables);
    // A score of -inf is a masked one, whoever made it.
    const bool counts = kept & (score > -kInfinity);
    s = counts ? weight : 0.0f;
    d = counts ? d_before : 0.0f;
  }
};

template <class T, int kDim, class St, Part kPart, bool kGrads>
__global__ void __launch_bounds__(BackwardTile<T, kDim>::kThreads,
                                  BackwardTile<T, kDim>::kBlocks)
    backward_kernel(const __grid_constant__ BackwardProblem<T> problem,
                    const __grid_constant__ St stages,
                    const __grid_constant__ StagesGrads<St> table_grads) {
  using Tile = BackwardTile<T, kDim>;
  extern __shared__ __align__(16) unsigned char raw[];
  const BackwardShared<T, Tile> shared{reinterpret_cast<T*>(raw)};
  const BackwardRows& rows = problem.rows;

  const int place = static_cast<int>(blockIdx.x) / problem.blocks;
  const int first =
      (problem.first_block + static_cast<int>(blockIdx.x) % problem.blocks) * Tile::kKeys;
  const int kv_heads = rows.heads / rows.group;
  const int kv_head = place % kv_heads;
  const int batch = place / kv_heads;
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16 * Tile::kRowTiles;
  const int last_head = (kv_head + 1) * rows.group;

  const auto find = [&](const QueryTile& from) {
    return find_queries<Tile>(stages.mask, rows, batch, last_head, first, from);
  };
  const auto fetch = [&](const QueryTile& tile, int stage) {
    if (tile.head >= last_head) return;
    const int query = tile.visit.tile * Tile::kQueries;
    copy_tile<Tile::kQueries, kDim, Tile::kThreads>(
        shared.q(stage), problem.q.rows(batch, tile.head), query, rows.queries);
    copy_tile<Tile::kQueries, kDim, Tile::kThreads>(
        shared.d_out(stage), problem.d_out.rows(batch, tile.head), query, rows.queries);
    rows.fetch<Tile::kQueries>(shared.stat(stage), shared.delta(stage), batch, tile.head,
                               query);
  };

  copy_tile<Tile::kKeys, kDim, Tile::kThreads>(shared.k(), problem.k.rows(batch, kv_head),
                                               first, rows.keys);
  copy_tile<Tile::kKeys, kDim, Tile::kThreads>(shared.v(), problem.v.rows(batch, kv_head),
                                               first, rows.keys);
  QueryTile here = find({kv_head * rows.group, {}});
  fetch(here, 0);
  copy_commit();

  // A key that nobody sees may be anything, and meets d_scores of 0 on its way into dQ.
  if constexpr (kMayHide<St>) {
    copy_wait<0>();
    __syncthreads();
    clear_non_finite<Tile::kKeys, kDim, Tile::kThreads>(shared.k());
  }

  constexpr bool kKeySums = kPart != Part::values;
  constexpr bool kValueSums = kPart != Part::keys;
  Block16x8 dk[kKeySums ? Tile::kRowTiles : 1][kKeySums ? kDim / 8 : 1] = {};
  Block16x8 dv[kValueSums ? Tile::kRowTiles : 1][kValueSums ? kDim / 8 : 1] = {};
  constexpr bool kScoreGrads = kGrads && kKeySums && St::kScoreTables > 0;
  constexpr bool kFactorGrads = kGrads && kKeySums && St::kFactorTables > 0;
  using G = std::conditional_t<kScoreGrads, DeviceGrads<St::kScoreTables>, NoGrads>;
  using F = std::conditional_t<kFactorGrads, DeviceGrads<St::kFactorTables>, NoGrads>;
  [[maybe_unused]] float score_sums[St::kScoreTables > 0 ? St::kScoreTables : 1] = {};
  [[maybe_unused]] float factor_sums[St::kFactorTables > 0 ? St::kFactorTables : 1] = {};

  const bool wants_queries = kKeySums && problem.dq_sums != nullptr;
  const auto add_queries = [&](const QueryTile& tile, int turn) {
    const int query = tile.visit.tile * Tile::kQueries;
    add_query_grads<T, Tile>(shared.d_scores(turn), shared.k(),
                             problem.dq_sums + rows.sums_place(batch, tile.head, query, kDim),
                             rows.queries - query);
  };

  int stage = 0;
  int turn = 0;
  QueryTile before{last_head, {}};
  while (here.head < last_head) {
    // One barrier a tile: it says that the tile is here, that nobody reads the last one any
    // more and that the last one's d_scores are written; dQ is made from them one turn late.
    copy_wait<0>();
    __syncthreads();
    QueryTile next = here;
    ++next.visit.tile;
    next = find(next);
    if constexpr (Tile::kStages == 2) {
      fetch(next, stage ^ 1);
      copy_commit();
    }
    if (wants_queries && before.head < last_head) add_queries(before, turn ^ 1);

    const int query = here.visit.tile * Tile::kQueries;
    const T* const q_tile = shared.q(stage);
    const T* const d_out_tile = shared.d_out(stage);
    Block16x8 s[Tile::kRowTiles][Tile::kQueries / 8];
    Block16x8 d[Tile::kRowTiles][Tile::kQueries / 8];
    rows_by_rows<T, kDim>(s, shared.k(), warp_row, q_tile);
    rows_by_rows<T, kDim>(d, shared.v(), warp_row, d_out_tile);

    G score_grads{};
    F factor_grads{};
    if constexpr (kScoreGrads)
      score_grads = {table_grads.score.data, score_sums, batch, here.head, 0};
    if constexpr (kFactorGrads)
      factor_grads = {table_grads.factor.data, factor_sums, batch, here.head, 0};
    ScoreGradients<Tile, St, G, F> gradients{stages, rows,      score_grads,      factor_grads,
                                             batch,  here.head, first + warp_row, query};
    const bool ask = here.visit.cover != Cover::all;
    const bool edge = query + Tile::kQueries > rows.queries || first + Tile::kKeys > rows.keys;
    if (!St::kRolled && !ask && !edge) {
      gradients(s, d, shared.stat(stage), shared.delta(stage), false, false);
    } else {
      gradients(s, d, shared.stat(stage), shared.delta(stage), true, ask);
    }
    if (next.head != here.head) {
      if constexpr (kScoreGrads) score_grads.flush_head();
      if constexpr (kFactorGrads) factor_grads.flush_head();
    }

    if (wants_queries) {
#pragma unroll
      for (int i = 0; i < Tile::kRowTiles; ++i)
#pragma unroll
        for (int j = 0; j < Tile::kQueries / 8; ++j)
          Mma<T>::template store_sums<Tile::kScoreStride>(shared.d_scores(turn),
                                                          warp_row + 16 * i, 8 * j, d[i][j]);
    }
    if constexpr (kValueSums) add_product<T, kDim>(dv, s, d_out_tile);
    if constexpr (kKeySums) add_product<T, kDim>(dk, d, q_tile);
    before = here;
    here = next;
    turn ^= 1;
    if constexpr (Tile::kStages == 2) {
      stage ^= 1;
    } else {
      __syncthreads();  // before the next tile overwrites what this one read
      fetch(here, 0);
      copy_commit();
    }
  }
  if (wants_queries && before.head < last_head) {
    __syncthreads();
    add_queries(before, turn ^ 1);
  }
  copy_wait<0>();

#pragma unroll
  for (int i = 0; i < Tile::kRowTiles; ++i) {
    const int row = first + warp_row + 16 * i;
    if constexpr (kKeySums)
      store_rows(problem.dk, batch, kv_head, row, rows.keys, dk[i], stages.scale);
    if constexpr (kValueSums)
      store_rows(problem.dv, batch, kv_head, row, rows.keys, dv[i], 1.0f);
  }
}

template <int kDim, class T, class St>
void launch_backward(const BackwardArgs<T>& args, const St& stages,
                     const StagesGrads<St>& grads, void* workspace, cudaStream_t stream,
                     Determinism determinism = Determinism::fast) {
  using Tile = BackwardTile<T, kDim>;
  BackwardProblem<T> problem(args, kDim, workspace);
  start_backward<kDim>(problem, stages, grads, stream);
  const std::int64_t key_heads = args.k.shape[0] * args.k.shape[1];
  const int blocks = (problem.rows.keys + Tile::kKeys - 1) / Tile::kKeys;
  const auto run = [&]<Part kPart>() {
    const auto part = [&](auto* kernel) {
      launch("attn::gpu::backward", kernel, key_heads * problem.blocks, Tile::kThreads,
             Tile::kBytes, stream, problem, stages, grads);
    };
    // Without tables there is one kernel to build, not two; a rolled one asks at run time.
    if constexpr (St::kScoreTables + St::kFactorTables > 0) {
      if (St::kRolled || grads.score.wanted() || grads.factor.wanted())
        return part(backward_kernel<T, kDim, St, kPart, true>);
    }
    if constexpr (!St::kRolled) part(backward_kernel<T, kDim, St, kPart, false>);
  };
  // In one launch a block of keys adds to each dQ once, so launches in order add in order.
  problem.blocks = determinism == Determinism::repeatable ? 1 : blocks;
  for (; key_heads > 0 && problem.first_block < blocks; problem.first_block += problem.blocks) {
    if constexpr (Tile::kSplit) {
      if (args.dv.data != nullptr) run.template operator()<Part::values>();
      run.template operator()<Part::keys>();
    } else {
      run.template operator()<Part::both>();
    }
  }
  finish_backward<kDim>(problem, stages.scale, stream);
}

/// The gradients of sum(out * d_out) + sum(stat * d_stat), queued on `stream`. `workspace` is
/// backward_workspace_bytes(args) in the GPU's memory, aligned to 16. Gradients of tables are
/// added atomically, in any order, to what is there.
template <class T, class St>
void backward(const BackwardArgs<T>& args, const St& stages, const StagesGrads<St>& grads,
              void* workspace, cudaStream_t stream,
              Determinism determinism = Determinism::fast) {
  constexpr const char* kWhere = "attn::gpu::backward";
  check_supported(args);
  if (determinism == Determinism::repeatable &&
      (grads.score.wanted() || grads.factor.wanted() || grads.normaliser.wanted()))
    fail<Unsupported>(kWhere, ": gradients of tables are not repeatable on the GPU");
  for_head_size(kWhere, args.q.shape[3], args.v.shape[3], [&](auto dim) {
    launch_backward<decltype(dim)::value>(args, stages, grads, workspace, stream, determinism);
  });
}

}  // namespace attn::gpu
