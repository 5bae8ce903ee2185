/// Attention forward on the GPU: one fused loop over tiles of keys that calls the functors on
/// scores in registers. Compile it with your own functors by nvcc; the library's own list is in
/// attn/kernels/gpu/attention.hpp.
/// After Dao, 2023, arXiv:2307.08691.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/functor/copy.cuh"
#include "attn/kernels/gpu/functor/dispatch.cuh"
#include "attn/kernels/gpu/functor/hidden.cuh"
#include "attn/kernels/gpu/functor/mma.cuh"
#include "attn/kernels/gpu/functor/stages.cuh"
#include "attn/kernels/gpu/functor/tiles.cuh"
#include "attn/kernels/gpu/functor/visit.cuh"

namespace attn::gpu {

template <class T>
struct ForwardProblem {
  DeviceView<const T> q, k, v;
  DeviceView<T> out;
  View<float, 3> stat;
  int queries = 0;
  int keys = 0;
  int heads = 0;
  int group = 1;  ///< query heads that share a key head

  explicit ForwardProblem(const ForwardArgs<T>& args)
      : q(args.q), k(args.k), v(args.v), out(args.out), stat(args.stat) {
    queries = static_cast<int>(args.q.shape[2]);
    keys = static_cast<int>(args.k.shape[2]);
    heads = static_cast<int>(args.q.shape[1]);
    group = static_cast<int>(args.q.shape[1] / args.k.shape[1]);
  }
};

/// How far above the reference a score may lie before everything pooled is rescaled: weights up
/// to e^4 lose nothing, and most tiles then need no rescaling.
inline constexpr float kReferenceSlack = 4.0f;

/// The sums of one warp's rows: what it has pooled, and the normaliser's state of each row.
template <class Tile>
struct Pool {
  Block16x8 out[Tile::kRowTiles][Tile::kChannels / 8];
  float reference[Tile::kRowTiles][2];
  float mass[Tile::kRowTiles][2];

  __device__ __forceinline__ explicit Pool(float start) {
#pragma unroll
    for (int i = 0; i < Tile::kRowTiles; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kChannels / 8; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) out[i][j][e] = 0.0f;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        reference[i][half] = start;
        mass[i][half] = 0.0f;
      }
    }
  }
};

/// Moves the references of the rows on to scores that rose above them, and what the rows weigh
/// with them; `factors` is then what everything pooled before must be multiplied by. Whether
/// anything must be: the same answer for the whole warp.
template <class Tile, class St>
__device__ __forceinline__ bool raise_references(
    const St& stages, const Block16x8 (&s)[Tile::kRowTiles][Tile::kKeys / 8], Pool<Tile>& pool,
    float (&factors)[Tile::kRowTiles][2]) {
  using N = std::remove_cvref_t<decltype(stages.normaliser)>;
  bool any = false;
  if constexpr (N::kRunsMax) {
#pragma unroll
    for (int i = 0; i < Tile::kRowTiles; ++i) {
      float raised[2];
      bool rises = false;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float top = s[i][0][2 * half];
#pragma unroll
        for (int j = 0; j < Tile::kKeys / 8; ++j)
          top = fmaxf(top, fmaxf(s[i][j][2 * half], s[i][j][2 * half + 1]));
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
        const bool above = top > pool.reference[i][half] + kReferenceSlack;
        raised[half] = above ? top : pool.reference[i][half];
        rises = rises || above;
        factors[i][half] = 1.0f;
      }
      if (__any_sync(0xffffffffu, rises)) {
        any = true;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          factors[i][half] = stages.normaliser.rescale(pool.reference[i][half], raised[half]);
          pool.reference[i][half] = raised[half];
          pool.mass[i][half] *= factors[i][half];
        }
      }
    }
  }
  return any;
}

template <class Tile>
__device__ __forceinline__ void rescale(Pool<Tile>& pool,
                                        const float (&factors)[Tile::kRowTiles][2]) {
#pragma unroll
  for (int i = 0; i < Tile::kRowTiles; ++i)
#pragma unroll
    for (int j = 0; j < Tile::kChannels / 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) pool.out[i][j][e] *= factors[i][e >> 1];
}

/// Scores become weights in place, and the rows weigh more by their mass.
template <class Tile, class St, class SiteOf>
__device__ __forceinline__ void weigh(const St& stages,
                                      Block16x8 (&s)[Tile::kRowTiles][Tile::kKeys / 8],
                                      Pool<Tile>& pool, const SiteOf& site_of) {
  using N = std::remove_cvref_t<decltype(stages.normaliser)>;
  // Copies, because a rolled loop indexes them at run time and the pool must stay in registers.
  float reference[Tile::kRowTiles][2];
  float added[Tile::kRowTiles][2];
#pragma unroll
  for (int i = 0; i < Tile::kRowTiles; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      reference[i][half] = pool.reference[i][half];
      added[i][half] = 0.0f;
    }
  for_each_sum<St::kRolled>(s, [&](float& x, int i, int j, int e) {
    const float score = x;
    x = stages.normaliser.weight(score, reference[i][e >> 1]);
    const float mass = stages.normaliser.mass(x);
    // Without a maximum a masked key may have mass of its own: it must not be asked.
    constexpr bool kMassOfWeight = N::kRunsMax && !St::kRolled;
    added[i][e >> 1] += kMassOfWeight || score > -kInfinity ? mass : 0.0f;
    if constexpr (St::kHasFactor) {
      const Site<float> at = site_of(i, j, e);
      const DeviceParams p{stages.factor_tables.data, at.batch, at.head, at.q};
      if (x != 0.0f) x *= call_factor(stages.factor, at, p);
    }
  });
#pragma unroll
  for (int i = 0; i < Tile::kRowTiles; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) pool.mass[i][half] += added[i][half];
}

/// Where the scores of one warp and tile lie.
struct ScorePlace {
  int batch, head;
  int query;  ///< of the warp's first row
  int key;    ///< of the tile's first column
  int queries, keys;

  __device__ __forceinline__ Site<float> site(int i, int j, int e) const {
    const int lane = lane_id();
    return {batch, head, query + 16 * i + (lane >> 2) + 8 * (e >> 1),
            key + 8 * j + 2 * (lane & 3) + (e & 1)};
  }
  /// Rows and keys past the end are asked about as the last ones, and thrown away.
  __device__ __forceinline__ Site<float> clamped_site(int i, int j, int e) const {
    Site<float> at = site(i, j, e);
    at.q = min(at.q, queries - 1);
    at.k = min(at.k, keys - 1);
    return at;
  }
};

/// Products become scores: scaled, modified, and -inf where the mask hides them or there is no
/// key. `inside`: the tile has neither missing rows nor missing keys.
template <class Tile, class St>
__device__ __forceinline__ void modify(const St& stages, const ScorePlace& place,
                                       Block16x8 (&s)[Tile::kRowTiles][Tile::kKeys / 8],
                                       bool ask, bool inside) {
  const auto modified = [&](float x, const Site<float>& at) {
    const DeviceParams p{stages.score_tables.data, at.batch, at.head, at.q};
    return call_forward(stages.score, stages.scale * x, at, p);
  };
  if (!St::kRolled && inside && !ask) {
    for_each_sum<false>(
        s, [&](float& x, int i, int j, int e) { x = modified(x, place.site(i, j, e)); });
  } else {
    for_each_sum<St::kRolled>(s, [&](float& x, int i, int j, int e) {
      const Site<float> at = place.clamped_site(i, j, e);
      const bool exists = place.site(i, j, e).k < place.keys;
      // Modified first and selected then: a branch for each score would cost more.
      const float score = modified(x, at);
      x = exists & kept_by<St::kRolled>(stages.mask, ask, at) ? score : -kInfinity;
    });
  }
}

/// Writes the rows of a warp, of which `query` is the first.
template <class T, class Tile, class St>
__device__ __forceinline__ void finish_rows(const ForwardProblem<T>& problem, const St& stages,
                                            Pool<Tile>& pool, int batch, int head, int query) {
  const int lane = lane_id();
  const auto out = problem.out.rows(batch, head);
  [[maybe_unused]] float spoilt = 0.0f;  // NaN once something is not finite
  [[maybe_unused]] float stats[Tile::kRowTiles][2] = {};
#pragma unroll
  for (int i = 0; i < Tile::kRowTiles; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float mass = pool.mass[i][half];
      mass += __shfl_xor_sync(0xffffffffu, mass, 1);
      mass += __shfl_xor_sync(0xffffffffu, mass, 2);
      const int q = query + 16 * i + (lane >> 2) + 8 * half;
      if (q >= problem.queries) continue;
      const DeviceParams p{stages.normaliser_tables.data, batch, head, q};
      const Row<float> row = stages.normaliser.finish(pool.reference[i][half], mass, p);
      stats[i][half] = row.stat;
      if (problem.stat.data != nullptr && (lane & 3) == 0)
        *problem.stat.at(batch, head, q) = row.stat;
#pragma unroll
      for (int j = 0; j < Tile::kChannels / 8; ++j) {
        store_pair(out, q, 8 * j + 2 * (lane & 3), pool.out[i][j][2 * half] * row.scale,
                   pool.out[i][j][2 * half + 1] * row.scale);
        if constexpr (kMayHide<St>)
          spoilt += 0.0f * (pool.out[i][j][2 * half] + pool.out[i][j][2 * half + 1]);
      }
    }
  }
  if constexpr (kMayHide<St>) {
    // Nobody but this warp writes its rows, and all of its lanes come here.
    if (__any_sync(0xffffffffu, spoilt != 0.0f)) {
      __syncwarp();
      const int kv_head = head / problem.group;
      const PlainRow<T, St> plain{problem.q.rows(batch, head), problem.k.rows(batch, kv_head),
                                  problem.v.rows(batch, kv_head), out, problem.keys};
#pragma unroll
      for (int r = 0; r < 2 * Tile::kRowTiles; ++r) {
        for (int g = 0; g < 8; ++g) {
          const float stat = __shfl_sync(0xffffffffu, stats[r / 2][r % 2], 4 * g);
          const int q = query + 8 * r + g;
          if (q < problem.queries) plain.pool_again(stages, {batch, head, q, 0}, stat);
        }
      }
    }
  }
}

template <class T, int kDim, class St>
__global__ void __launch_bounds__(ForwardTile<T, kDim>::kThreads, ForwardTile<T, kDim>::kBlocks)
    forward_kernel(const __grid_constant__ ForwardProblem<T> problem,
                   const __grid_constant__ St stages) {
  using Tile = ForwardTile<T, kDim>;
  extern __shared__ __align__(16) unsigned char shared[];
  T* const q_tile = reinterpret_cast<T*>(shared);
  constexpr int kTileSize = Tile::kKeys * Tile::kStride;
  T* const kv_tiles = q_tile + Tile::kQueries * Tile::kStride;  // k and v of each stage

  const int blocks = (problem.queries + Tile::kQueries - 1) / Tile::kQueries;
  const int place = static_cast<int>(blockIdx.x) / blocks;
  // The last queries first: under a causal mask they have most to do.
  const int first = (blocks - 1 - static_cast<int>(blockIdx.x) % blocks) * Tile::kQueries;
  const int head = place % problem.heads;
  const int batch = place / problem.heads;
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16 * Tile::kRowTiles;
  const auto k_rows = problem.k.rows(batch, head / problem.group);
  const auto v_rows = problem.v.rows(batch, head / problem.group);

  const int tiles = (problem.keys + Tile::kKeys - 1) / Tile::kKeys;
  const auto block_of = [&](int tile) {
    return Block{batch,
                 head,
                 {first, min(first + Tile::kQueries, problem.queries)},
                 {tile * Tile::kKeys, min((tile + 1) * Tile::kKeys, problem.keys)}};
  };

  const auto fetch = [&](int tile, int stage) {
    if (tile >= tiles) return;
    T* const to = kv_tiles + 2 * stage * kTileSize;
    const int key = tile * Tile::kKeys;
    copy_tile<Tile::kKeys, kDim, Tile::kThreads>(to, k_rows, key, problem.keys);
    copy_tile<Tile::kKeys, kDim, Tile::kThreads>(to + kTileSize, v_rows, key, problem.keys);
  };

  copy_tile<Tile::kQueries, kDim, Tile::kThreads>(q_tile, problem.q.rows(batch, head), first,
                                                  problem.queries);
  Visit visit = next_visit(stages.mask, 0, tiles, block_of);
  fetch(visit.tile, 0);
  copy_commit();

  Pool<Tile> pool(std::remove_cvref_t<decltype(stages.normaliser)>::kRunsMax ? -kInfinity
                                                                             : 0.0f);
  const bool whole_rows = first + Tile::kQueries <= problem.queries;
  int stage = 0;
  while (visit.tile < tiles) {
    copy_wait<0>();
    __syncthreads();  // this tile is here, and nobody reads the one before it any more
    const Visit next = next_visit(stages.mask, visit.tile + 1, tiles, block_of);
    fetch(next.tile, stage ^ 1);
    copy_commit();

    const T* const k_tile = kv_tiles + 2 * stage * kTileSize;
    Block16x8 s[Tile::kRowTiles][Tile::kKeys / 8];
    rows_by_rows<T, kDim>(s, q_tile, warp_row, k_tile);

    const int key = visit.tile * Tile::kKeys;
    const ScorePlace scores{batch, head, first + warp_row, key, problem.queries, problem.keys};
    modify<Tile>(stages, scores, s, visit.cover != Cover::all,
                 whole_rows && key + Tile::kKeys <= problem.keys);
    float factors[Tile::kRowTiles][2];
    if (raise_references(stages, s, pool, factors)) rescale(pool, factors);
    weigh(stages, s, pool, [&](int i, int j, int e) { return scores.clamped_site(i, j, e); });
    add_product<T, kDim>(pool.out, s, k_tile + kTileSize);
    visit = next;
    stage ^= 1;
  }
  copy_wait<0>();
  finish_rows<T>(problem, stages, pool, batch, head, first + warp_row);
}

template <int kDim, class T, class St>
void launch_forward(const ForwardArgs<T>& args, const St& stages, cudaStream_t stream) {
  using Tile = ForwardTile<T, kDim>;
  const ForwardProblem<T> problem(args);
  const std::int64_t blocks = args.q.shape[0] * args.q.shape[1] *
                              ((args.q.shape[2] + Tile::kQueries - 1) / Tile::kQueries);
  launch("attn::gpu::forward", forward_kernel<T, kDim, St>, blocks, Tile::kThreads,
         Tile::kBytes, stream, problem, stages);
}

/// out = pool(normalise(mask(score(q, k))), v), queued on `stream`; nothing is synchronised and
/// no score matrix is written. Every pointer lies in the GPU's memory. T is float, BFloat16 or
/// Float16. Head sizes in between run padded on the next of kHeadSizes.
template <class T, class St>
void forward(const ForwardArgs<T>& args, const St& stages, cudaStream_t stream) {
  check_supported(args);
  for_head_size("attn::gpu::forward", args.q.shape[3], args.v.shape[3],
                [&](auto dim) { launch_forward<decltype(dim)::value>(args, stages, stream); });
}

}  // namespace attn::gpu
