/// The fused forward pass: score, mask, normalise and pool a tile while it is in cache.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/stage.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/kernel_table.hpp"
#include "kernels/cpu/packed/pack.hpp"
#include "kernels/cpu/packed/packed_keys.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/score_tile.hpp"
#include "kernels/cpu/scratch.hpp"
#include "kernels/cpu/similarity.hpp"
#include "kernels/cpu/tiles.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// What one tile of queries carries along the keys.
struct RunningRows {
  FloatRows q;       ///< prepared queries
  float* out;        ///< pooled values [rows, out_stride]
  float* reference;  ///< of the normaliser, one a row
  float* mass;
  float* rescale;
  bool empty;  ///< nothing pooled yet: out holds garbage
  int next;    ///< key
};

struct ForwardScratch {
  PackedKeys packed;
  float* rows;  ///< for packing
  float* q;
  float* out;
  float* reference;
  float* mass;
  float* rescale;
  float* scale;
  float* stat;
  float* s;
  std::int64_t s_stride;
  std::uint8_t* bits;

  ForwardScratch(const Plan& plan, const ForwardRun& run, Scratch& scratch) {
    constexpr int kAll = kTileRows * kRowTiles;
    packed.count = plan.keys(run.batch);
    const std::int64_t padded = round_up(packed.count, kPackRows);
    packed.keys = scratch.take<float>(padded * depth_of(plan));
    packed.value_panels = scratch.take<float>(padded * round_up(plan.value_channels, kPanel));
    rows = scratch.take<float>(kPackRows * row_stride(plan));
    q = scratch.take<float>(kAll * row_stride(plan));
    out = scratch.take<float>(kAll * round_up(plan.value_channels, kLanes));
    for (float** numbers : {&reference, &mass, &rescale, &scale, &stat})
      *numbers = scratch.take<float>(kAll);
    // Whole-row normalisers keep the scores of all keys, streaming ones a tile.
    s_stride = plan.streams ? kTileCols : round_up(packed.count, kTileCols);
    s = scratch.take<float>(kTileRows * (s_stride + (plan.streams ? 0 : kTileCols)));
    bits = scratch.take<std::uint8_t>(plan.mask_buffers * kTileRows * bit_bytes(kTileCols));
  }

  static std::int64_t row_stride(const Plan& plan) {
    return round_up(max(max(plan.channels, plan.value_channels), max(depth_of(plan), 2)),
                    kLanes);
  }
};

/// The columns of weights [rows, cols] between the first and the last that are not all zero.
struct Weighed {
  int begin;
  int end;
};
ATTN_FN Weighed weighed_columns(const float* s, std::int64_t stride, int rows, int cols) {
  // Bit i: column c + i has a weight.
  const auto any_weight = [&](int c) ATTN_LAMBDA {
    LaneMask zero(true);
    for (int r = 0; r < rows; ++r) zero = zero & (Lane::load(s + r * stride + c) == Lane(0.0f));
    return ~bits(zero) & ((1u << kLanes) - 1);
  };
  int begin = 0;
  unsigned found = 0;
  while (begin < cols && (found = any_weight(begin)) == 0) begin += kLanes;
  if (begin >= cols) return {0, 0};
  begin += __builtin_ctz(found);
  int end = round_up(cols, kLanes);
  while ((found = any_weight(end - kLanes)) == 0) end -= kLanes;
  end += 32 - kLanes - __builtin_clz(found);
  return {begin, end};
}

/// out rows += or = weights [rows, cols] * values of keys [key, key + cols), where a mask cut
/// the tile: each block of rows pools the keys that it gives weight.
ATTN_FN void pool_cut_tile(const Plan& plan, const PackedKeys& packed, int key, int rows,
                           int cols, const float* s, std::int64_t s_stride, bool first,
                           float* out) {
  const std::int64_t stride = round_up(plan.value_channels, kLanes);
  constexpr int kBlocks = (kMaskedRows + kRows - 1) / kRows;
  Weighed weighed[kBlocks] = {};
  for (int b = 0; b * kRows < rows; ++b)
    weighed[b] =
        weighed_columns(s + b * kRows * s_stride, s_stride, min(kRows, rows - b * kRows), cols);
  for (int c = 0; c < plan.value_channels; c += kPanel) {
    const int vectors = plan.value_channels - c > kLanes ? kVectors : 1;
    for (int b = 0; b * kRows < rows; ++b) {
      const int r = b * kRows;
      const int count = min(kRows, rows - r);
      const auto [begin, end] = weighed[b];
      multiply(!first, true, count, vectors * kLanes, end - begin,
               {s + r * s_stride + begin, s_stride, 1}, packed.values(c, key + begin),
               out + r * stride + c, stride);
    }
  }
}

/// out rows += or = weights [rows, cols] * values of keys [key, key + cols).
ATTN_FN void pool_tile(const Plan& plan, const PackedKeys& packed, int key, int rows, int cols,
                       const float* s, std::int64_t s_stride, bool first, float* out) {
  const std::int64_t stride = round_up(plan.value_channels, kLanes);
  for (int c = 0; c < plan.value_channels; c += kPanel) {
    const int vectors = plan.value_channels - c > kLanes ? kVectors : 1;
    multiply(!first, packed.values_finite, rows, vectors * kLanes, cols, {s, s_stride, 1},
             packed.values(c, key), out + c, stride);
  }
}

/// One block of keys for one tile of queries, streaming. at.k begins a vector.
ATTN_FN void push_block(const Plan& plan, int kv_head, const ForwardScratch& scratch,
                        TilePlace at, RunningRows& rows) {
  const Kept kept = kept_columns(plan, at);
  if (kept.begin == kept.end) return;
  at.k += kept.begin;
  at.cols = kept.end - kept.begin;
  score_block(plan, kv_head, at.rows, at.cols, rows.q.data, rows.q.stride,
              {scratch.packed.keys, at.k}, scratch.s, scratch.s_stride);
  keep_similarities(plan, at, scratch.s, scratch.s_stride);
  finish_scores(plan, at, kept.masked, scratch.s, scratch.s_stride, scratch.bits);
  const FlatNormaliser& n = plan.normaliser;
  n.ops->push(n.functor, at, scratch.s, scratch.s_stride, rows.reference, rows.mass,
              rows.rescale);
  apply_factors(plan, at, scratch.s, scratch.s_stride);
  if (!rows.empty)
    scale_rows(rows.out, round_up(plan.value_channels, kLanes), at.rows, rows.rescale);
  const auto pool = kept.masked && scratch.packed.values_finite ? pool_cut_tile : pool_tile;
  pool(plan, scratch.packed, at.k, at.rows, at.cols, scratch.s, scratch.s_stride, rows.empty,
       rows.out);
  rows.empty = false;
}

/// Pushes all keys to the tiles of queries. They pass over a block of keys one after the other,
/// while it is in cache. Each tile's blocks begin where its mask does: a narrow window is then
/// one block, wherever it lies. `fetch_next(t)` is called once a tile, before it is computed.
template <class Place, class Fetch>
ATTN_FN void push_keys(const Plan& plan, int kv_head, const ForwardScratch& scratch, int tiles,
                       const Place& place, const Fetch& fetch_next, RunningRows* rows) {
  const int count = scratch.packed.ready.end;
  for (bool more = true; more;) {
    more = false;
    for (int t = 0; t < tiles; ++t) {
      TilePlace at = place(t);
      at.k = first_kept(plan, at, rows[t].next, count);
      rows[t].next = count;
      if (at.k >= count) continue;
      at.cols = min(kTileCols, count - at.k);
      rows[t].next = at.k + at.cols;
      more = more || rows[t].next < count;
      if (rows[t].empty) fetch_next(t);
      push_block(plan, kv_head, scratch, at, rows[t]);
    }
  }
}

/// Scores of a tile of queries with all keys, each stage applied, -inf where masked.
[[gnu::noinline]] inline void whole_scores(const Plan& plan, int kv_head,
                                           const ForwardScratch& scratch, TilePlace at,
                                           FloatRows q) {
  const int count = scratch.packed.count;
  for (int k = 0; k < count; k += kTileCols) {
    at.k = k;
    at.cols = min(kTileCols, count - k);
    const Kept kept = kept_columns(plan, at);
    float* s = scratch.s + k;
    for (int r = 0; r < at.rows; ++r)
      for (int c = 0; c < round_up(at.cols, kLanes); ++c)
        if (c < kept.begin || c >= kept.end) s[r * scratch.s_stride + c] = -kInfinity;
    if (kept.begin == kept.end) continue;
    TilePlace part = at;
    part.k += kept.begin;
    part.cols = kept.end - kept.begin;
    score_block(plan, kv_head, at.rows, part.cols, q.data, q.stride,
                {scratch.packed.keys, part.k}, s + kept.begin, scratch.s_stride);
    keep_similarities(plan, part, s + kept.begin, scratch.s_stride);
    finish_scores(plan, part, kept.masked, s + kept.begin, scratch.s_stride, scratch.bits);
  }
}

/// The rows' stat from whole scores; a streaming normaliser runs over a copy.
[[gnu::noinline]] inline void whole_stat(const Plan& plan, const ForwardScratch& scratch,
                                         TilePlace at, RunningRows& rows, float* scale,
                                         float* stat) {
  const FlatNormaliser& n = plan.normaliser;
  at.k = 0;
  at.cols = scratch.packed.count;
  if (!n.streams) {
    n.ops->solve(n.functor, at, scratch.s, scratch.s_stride, stat);
    return;
  }
  float* copy = scratch.s + kTileRows * scratch.s_stride;
  for (int k = 0; k < scratch.packed.count; k += kTileCols) {
    TilePlace part = at;
    part.k = k;
    part.cols = min(kTileCols, scratch.packed.count - k);
    copy_tile(at.rows, part.cols, scratch.s + k, scratch.s_stride, copy, kTileCols);
    n.ops->push(n.functor, part, copy, kTileCols, rows.reference, rows.mass, rows.rescale);
  }
  n.ops->finish(n.functor, n.tables, at, rows.reference, rows.mass, scale, stat);
}

/// The weights of a tile of queries for all keys, in scratch.s.
[[gnu::noinline]] inline void whole_weights(const Plan& plan, int kv_head,
                                            const ForwardScratch& scratch, TilePlace at,
                                            RunningRows& rows, float* scale, float* stat) {
  whole_scores(plan, kv_head, scratch, at, rows.q);
  whole_stat(plan, scratch, at, rows, scale, stat);
  const FlatNormaliser& n = plan.normaliser;
  at.cols = scratch.packed.count;
  at.k = 0;
  fill_tail(at.rows, at.cols, scratch.s, scratch.s_stride, -kInfinity);
  if (plan.factor_count == 0) {
    n.ops->weights(n.functor, at, scratch.s, scratch.s_stride, stat);
    return;
  }
  // Block by block, so that masked places can be told from weights that happen to be zero.
  float* scores = scratch.s + kTileRows * scratch.s_stride;
  for (int k = 0; k < scratch.packed.count; k += kTileCols) {
    at.k = k;
    at.cols = min(kTileCols, scratch.packed.count - k);
    float* w = scratch.s + k;
    const int cols = round_up(at.cols, kLanes);
    copy_tile(at.rows, cols, w, scratch.s_stride, scores, kTileCols);
    n.ops->weights(n.functor, at, w, scratch.s_stride, stat);
    apply_factors(plan, at, w, scratch.s_stride);
    for (int r = 0; r < at.rows; ++r)
      for (int c = 0; c < cols; c += kLanes) {
        float* place = w + r * scratch.s_stride + c;
        const LaneMask off = Lane::load(scores + r * kTileCols + c) == Lane(-kInfinity);
        select(off, Lane(0.0f), Lane::load(place)).store(place);
      }
  }
}

/// One tile of queries with all keys at once, for normalisers and weight modifiers that must
/// know a row before they can weigh it.
[[gnu::noinline]] inline void whole_rows(const Plan& plan, int kv_head,
                                         const ForwardScratch& scratch, const TilePlace& at,
                                         RunningRows& rows, float* scale, float* stat) {
  whole_weights(plan, kv_head, scratch, at, rows, scale, stat);
  for (int k = 0; k < scratch.packed.count; k += kTileCols) {
    const int cols = min(kTileCols, scratch.packed.count - k);
    pool_tile(plan, scratch.packed, k, at.rows, cols, scratch.s + k, scratch.s_stride, k == 0,
              rows.out);
  }
  rows.empty = false;
  for (int r = 0; r < at.rows; ++r) scale[r] = 1.0f;
}

/// Queries [first, first + count) for packed keys. Those of a dot product are used where they
/// lie: the keys carry the scale.
ATTN_FN FloatRows packed_queries(const Plan& plan, const ForwardRun& run, int head, int first,
                                 int count, float* buffer) {
  const std::int64_t stride = ForwardScratch::row_stride(plan);
  const RawRows rows = plan.query_rows(plan.q, run.batch, head);
  if (plan.similarity == Similarity::dot)
    return float_rows(rows, first, count, plan.channels, buffer, stride);
  read_rows(rows, first, count, plan.channels, buffer, stride);
  prepare_rows(plan, run.kv_head, Side::query, buffer, stride, count);
  return {buffer, stride};
}

/// Rows [first, first + count) of one head. Returns whether the outputs are finite.
ATTN_FN bool forward_tile(const Plan& plan, const ForwardRun& run, int head,
                          const ForwardScratch& scratch, int first, int count) {
  const std::int64_t out_stride = round_up(plan.value_channels, kLanes);
  const FloatRows q = packed_queries(plan, run, head, first, count, scratch.q);

  // Under a mask lower tiles have less to throw away at its edges.
  const int height = plan.masks == nullptr ? kTileRows : kMaskedRows;
  RunningRows rows[kTileRows * kRowTiles / kMaskedRows];
  const int tiles = (count + height - 1) / height;
  for (int t = 0; t < tiles; ++t) {
    const int r = t * height;
    rows[t] = {{q.data + r * q.stride, q.stride},
               scratch.out + r * out_stride,
               scratch.reference + r,
               scratch.mass + r,
               scratch.rescale + r,
               true,
               scratch.packed.ready.begin};
  }
  for (int r = 0; r < count; ++r) {
    scratch.reference[r] = plan.normaliser.runs_max ? -kInfinity : 0.0f;
    scratch.mass[r] = 0.0f;
  }
  const auto place = [&](int t) ATTN_LAMBDA {
    const int r = t * height;
    return TilePlace{run.batch, head, first + r, 0, min(height, count - r), 0};
  };
  clear_similarities(plan, {run.batch, head, first, 0, count, scratch.packed.count});
  if (plan.streams) {
    // What the queries behind these need comes from memory meanwhile, a share with each tile.
    const auto fetch_next = [&](int t) ATTN_LAMBDA {
      const int query = first + kTileRows * kRowTiles + t * height;
      const int k = scratch.packed.ready.end + t * height;
      const int k_end = min(k + height, scratch.packed.count);
      prefetch_rows(plan.query_rows(plan.q, run.batch, head), query,
                    min(query + height, run.q_end), plan.channels);
      prefetch_rows(plan.key_rows(plan.k, run.batch, run.kv_head), k, k_end, plan.channels);
      prefetch_rows(plan.key_rows(plan.v, run.batch, run.kv_head), k, k_end,
                    plan.value_channels);
    };
    push_keys(plan, run.kv_head, scratch, tiles, place, fetch_next, rows);
    TilePlace all = place(0);
    all.rows = count;
    plan.normaliser.ops->finish(plan.normaliser.functor, plan.normaliser.tables, all,
                                scratch.reference, scratch.mass, scratch.scale,
                                plan.stat.data != nullptr ? scratch.stat : nullptr);
  } else {
    for (int t = 0; t < tiles; ++t)
      whole_rows(plan, run.kv_head, scratch, place(t), rows[t], scratch.scale + t * height,
                 scratch.stat + t * height);
  }
  for (int t = 0; t < tiles; ++t) {
    const TilePlace at = place(t);
    if (rows[t].empty || scratch.packed.count == 0)
      for (std::int64_t c = 0; c < at.rows * out_stride; ++c) rows[t].out[c] = 0.0f;
  }
  const bool finite =
      write_scaled_rows(scratch.out, out_stride, count, plan.value_channels, scratch.scale,
                        plan.query_rows(plan.out, run.batch, head), first);
  if (float* stat = plan.stat_row(plan.stat, run.batch, head))
    for (int r = 0; r < count; ++r) stat[(first + r) * plan.stat.strides[2]] = scratch.stat[r];
  return finite;
}

inline std::size_t forward_bytes(const Plan& plan, const ForwardRun& run) {
  Scratch count;
  const ForwardScratch layout(plan, run, count);
  return count.used;
}

inline void forward(const Plan& plan, const ForwardRun& run, std::byte* memory) {
  Scratch pieces{memory};
  ForwardScratch scratch(plan, run, pieces);
  PackedKeys& packed = scratch.packed;
  packed.ready.begin = packed.ready.end = keys_begin(plan, run, packed.count);
  constexpr int kAll = kTileRows * kRowTiles;
  for (int h = run.kv_head * plan.group; h < (run.kv_head + 1) * plan.group; ++h)
    for (int q = run.q_begin; q < run.q_end; q += kAll) {
      const int rows = min(kAll, run.q_end - q);
      // No sooner than a query looks at them: `fetch_next` then has them on the way in time.
      pack_keys(plan, run, keys_end(plan, run, {q, q + rows}, packed.ready.end, packed.count),
                scratch.rows, packed);
      const bool finite = forward_tile(plan, run, h, scratch, q, rows);
      if (finite || !packed.values_finite || packed.checked == packed.ready.end) continue;
      check_values(plan, packed);
      if (!packed.values_finite) forward_tile(plan, run, h, scratch, q, rows);
    }
}

}  // namespace attn::cpu::inline ATTN_TARGET
