/// The fused backward pass: tiles of scores are made again from the saved statistics, and all
/// five products run while they are in cache.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstddef>

#include "attn/core/concepts.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/target.hpp"
#include "attn/kernels/stage.hpp"
#include "kernels/cpu/packed/backward_plan.hpp"
#include "kernels/cpu/packed/backward_read.hpp"
#include "kernels/cpu/packed/backward_scratch.hpp"
#include "kernels/cpu/packed/backward_tile.hpp"
#include "kernels/cpu/packed/backward_write.hpp"
#include "kernels/cpu/packed/pack.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/score_tile.hpp"
#include "kernels/cpu/scratch.hpp"
#include "kernels/cpu/tiles.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// delta of all queries of one head: dO . O where that is enough, else the sums over all tiles.
inline void backward_deltas(const BackwardPlan& bp, int batch, int head, std::byte* memory) {
  const Plan& plan = bp.base;
  if (dots_on_the_way(bp, batch)) return;
  Scratch pieces{memory};
  BackwardScratch scratch(bp, batch, pieces);
  const int queries = plan.queries(batch);
  float* delta = bp.delta_row(batch, head);
  float* denominator = pieces.take<float>(bp.max_queries);
  for (int i = 0; i < queries; ++i) delta[i] = denominator[i] = 0.0f;
  if (plan.normaliser.coupling == Coupling::none) return;

  if (!bp.couples) {
    const RawRows out = plan.query_rows(plan.out, batch, head);
    const RawRows d_out = plan.query_rows(bp.d_out, batch, head);
    for (int i = 0; i < queries; i += kBackwardRows) {
      const int rows = min(kBackwardRows, queries - i);
      dot_rows(
          float_rows(out, i, rows, plan.value_channels, scratch.dq_rows, scratch.v_stride),
          float_rows(d_out, i, rows, plan.value_channels, scratch.d_out_rows, scratch.v_stride),
          rows, plan.value_channels, delta + i);
    }
  } else {
    const int keys = plan.keys(batch);
    for (int k = 0; k < keys; k += kBackwardCols) {
      const int count = min(kBackwardCols, keys - k);
      pack_block(plan, batch, head / plan.group, k, count, scratch);
      for (int q = 0; q < queries; q += kBackwardRows) {
        TilePlace at{batch, head, q, k, min(kBackwardRows, queries - q), count};
        const Kept kept = kept_columns(plan, at);
        if (kept.begin == kept.end) continue;
        at.k += kept.begin;
        at.cols = kept.end - kept.begin;
        read_queries(bp, batch, head, q, at.rows, scratch);
        make_tile(bp, at, kept.masked, kept.begin, scratch);
        factors_backward(bp, at, scratch, false);
        plan.normaliser.ops->couple(plan.normaliser.functor, at, scratch.s, scratch.grad,
                                    kBackwardStride, scratch.stat, delta + q, denominator + q);
      }
    }
  }
  finish_deltas(bp, batch, head, queries, denominator, delta);
}

inline std::size_t backward_bytes(const BackwardPlan& bp) {
  Scratch count;
  const BackwardScratch layout(bp, 0, count);
  count.take<float>(bp.max_queries);
  return count.used;
}

inline void backward(const BackwardPlan& bp, const BackwardTask& task, std::byte* memory) {
  const Plan& plan = bp.base;
  Scratch pieces{memory};
  BackwardScratch scratch(bp, task.batch, pieces);
  scratch.bind_heads(task.kv_head * plan.group, plan.score_count, plan.factor_count);
  const int keys = plan.keys(task.batch);
  const int first = task.block * kBackwardCols;
  int count = min(kBackwardCols, keys - first);
  if (count < 0) count = 0;  // a shorter sequence than the longest: only the turns are passed
  pack_block(plan, task.batch, task.kv_head, first, count, scratch);
  open_sums(bp, task, count, scratch);
  const int queries = plan.queries(task.batch);
  for (int h = task.kv_head * plan.group; h < (task.kv_head + 1) * plan.group; ++h) {
    // The last queries first: a causal mask gives every block of keys work there, so that
    // blocks on other threads follow one tile behind.
    for (int tile = bp.query_tiles; tile-- > 0;) {
      const int q = tile * kBackwardRows;
      const int rows = min(kBackwardRows, queries - q);
      if (rows <= 0) {
        if (!bp.turns_shared) continue;
        const Turn turn = turn_of(bp, task, h, tile);
        wait_for(*turn.counter, turn.number);
        turn.counter->store(turn.number + 1, std::memory_order_release);
        continue;
      }
      backward_tile(bp, task, h, {task.batch, h, q, first, rows, count}, scratch);
    }
  }
  if (count > 0) close_sums(bp, task, first, count, scratch);
  commit(bp, task, scratch);
}

}  // namespace attn::cpu::inline ATTN_TARGET
