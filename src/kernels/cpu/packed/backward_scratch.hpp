/// BackwardScratch: what one worker of the backward pass holds.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/macros.hpp"
#include "attn/core/table.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/target.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/stage.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/packed/backward_plan.hpp"
#include "kernels/cpu/packed/forward.hpp"
#include "kernels/cpu/packed/pack.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/score_tile.hpp"
#include "kernels/cpu/scratch.hpp"
#include "kernels/cpu/similarity.hpp"
#include "kernels/cpu/tiles.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// Channels of prepared-space gradients: distance carries the sum of dS in one more.
ATTN_FN int gradient_depth(const Plan& plan) {
  if (plan.similarity == Similarity::additive) return plan.channels;
  return depth_of(plan) + (plan.similarity == Similarity::distance ? 1 : 0);
}

/// A row stride for `channels` floats that is an odd number of cache lines.
ATTN_FN constexpr std::int64_t odd_lines(int channels) {
  constexpr int kLine = 16;
  const int lines = (channels + kLine - 1) / kLine;
  return (lines | 1) * kLine;
}

/// Whether one tile holds all scores of a head. Its keys and values are then read once, and its
/// gradients written once, so both stay where they lie. The sequence's own shape decides and
/// nothing else, so that the rest of the batch changes no result.
ATTN_FN bool is_short(const Plan& plan, int batch) {
  return plan.similarity == Similarity::dot && plan.queries(batch) <= kShortQueries &&
         plan.keys(batch) <= kBackwardCols;
}

/// fp32 rows that gradients are summed in: element (r, c) is data[r * stride + c].
struct SumRows {
  float* data;
  std::int64_t stride;
};

/// Where a table's gradient is gathered during one task, before it is handed over.
struct LocalTable {
  const TableGrad* to = nullptr;
  float* sums = nullptr;  ///< [heads of the group or 1, entries]
  int rows = 0;
  std::int64_t entries = 0;
};

struct BackwardScratch {
  std::int64_t q_stride, v_stride, g_stride;
  float* rows;          ///< for packing
  float* key_panels;    ///< prepared keys [depth, kPanel]
  float* key_rows;      ///< for prepared keys [block, g_stride]
  float* value_panels;  ///< values [value channels, kPanel]
  float* dk_rows;       ///< [block, g_stride]; of additive, panels like key_panels
  float* dv_rows;       ///< [block, v_stride]
  float* q_rows;        ///< for queries [tile, g_stride]
  float* d_out_rows;    ///< [tile, v_stride]
  FloatRows keys;       ///< prepared keys of the block, for dQ
  FloatRows q;          ///< prepared queries of the tile
  FloatRows d_out;
  SumRows dk, dv;   ///< of the block, in the rows above or where the caller wants them
  bool sums_empty;  ///< nothing added yet: dk and dv hold garbage
  float* dq_rows;   ///< [tile, g_stride]
  float* s;         ///< scores, then weights
  float* grad;      ///< of weights, then of scores
  float* inputs;    ///< of each modifier and factor, and the pooled weights
  float* stat;
  float* delta;
  float* numerator;
  float* denominator;
  float* d_weights;  ///< of the similarity
  std::uint8_t* bits;
  bool short_head;     ///< is_short(); the tile's gradients then carry the scale, not the keys
  bool values_scaled;  ///< the gradients get that scale from the packed values
  bool keys_finite = true;
  bool queries_finite = true;
  bool d_out_finite = true;
  LocalTable* local;  ///< `locals` of them
  int locals = 0;
  TableGrad (*local_scores)[kMaxTables];
  TableGrad (*local_factors)[kMaxTables];

  static constexpr std::int64_t kTile = std::int64_t{kBackwardRows} * kBackwardStride;

  BackwardScratch(const BackwardPlan& bp, int batch, Scratch& scratch)
      : short_head(is_short(bp.base, batch)),
        values_scaled(short_head && bp.base.score_count == 0 && bp.base.factor_count == 0 &&
                      !bp.couples) {
    const Plan& plan = bp.base;
    const int depth = depth_of(plan);
    q_stride = ForwardScratch::row_stride(plan);
    v_stride = odd_lines(plan.value_channels);
    g_stride = odd_lines(max(max(gradient_depth(plan), plan.channels), max(depth, 2)));
    rows = scratch.take<float>(kBackwardCols * max(q_stride, v_stride));
    key_panels = scratch.take<float>(round_up(kBackwardCols, kPanel) * depth);
    key_rows = scratch.take<float>(kBackwardCols * g_stride);
    value_panels = scratch.take<float>(round_up(kBackwardCols, kPanel) * plan.value_channels);
    dk_rows = scratch.take<float>(kBackwardCols * g_stride);
    dv_rows = scratch.take<float>(kBackwardCols * v_stride);
    q_rows = scratch.take<float>(kBackwardRows * g_stride);
    d_out_rows = scratch.take<float>(kBackwardRows * v_stride);
    dq_rows = scratch.take<float>(kBackwardRows * max(g_stride, v_stride));
    s = scratch.take<float>(kTile);
    grad = scratch.take<float>(kTile);
    inputs = scratch.take<float>(kTile * (plan.score_count + plan.factor_count + 1));
    for (float** numbers : {&stat, &delta, &numerator, &denominator})
      *numbers = scratch.take<float>(kBackwardRows);
    d_weights = scratch.take<float>(plan.channels + 1);
    bits = scratch.take<std::uint8_t>(plan.mask_buffers * kBackwardRows *
                                      bit_bytes(kBackwardCols));
    const int stages = plan.score_count + plan.factor_count;
    local = scratch.take<LocalTable>(stages * kMaxTables);
    local_scores = scratch.take<TableGrad[kMaxTables]>(plan.score_count);
    local_factors = scratch.take<TableGrad[kMaxTables]>(plan.factor_count);
    add_locals(bp.scores, plan.scores, plan.score_count, local_scores, plan, scratch);
    add_locals(bp.weight_modifiers, plan.weight_modifiers, plan.factor_count, local_factors,
               plan, scratch);
  }

  /// Tables without rows of their own are summed here first; the others are written in turn.
  void add_locals(const TableGrad* const* grads, const FlatStage* stages, int count,
                  TableGrad (*tables)[kMaxTables], const Plan& plan, Scratch& scratch) {
    const bool counting = scratch.base == nullptr;
    for (int i = 0; i < count; ++i)
      for (int slot = 0; slot < kMaxTables; ++slot) {
        if (!counting) tables[i][slot] = TableGrad{};
        if (grads[i] == nullptr || slot >= stages[i].slots) continue;
        const TableGrad& to = grads[i][slot];
        if (to.shape[2] == 0) continue;  // no queries, no entries: nothing to write
        const bool local_sum = to.data != nullptr && to.shape[2] <= 1;
        const int heads = to.shape[1] > 1 ? plan.group : 1;
        float* sums = local_sum ? scratch.take<float>(heads * to.shape[3]) : nullptr;
        if (counting) continue;
        tables[i][slot] = to;
        if (!local_sum) continue;
        local[locals++] = {&to, sums, heads, to.shape[3]};
        tables[i][slot].dtype = DType::f32;
        tables[i][slot].data = sums;
        tables[i][slot].strides = {0, to.shape[1] > 1 ? to.shape[3] : 0, 0,
                                   to.shape[3] > 1 ? 1 : 0};
      }
  }

  /// Heads of a task start at head0, and so does the local memory.
  void bind_heads(int head0, int score_count, int factor_count) {
    for (int i = 0; i < locals; ++i)
      for (std::int64_t e = 0; e < local[i].rows * local[i].entries; ++e)
        local[i].sums[e] = 0.0f;
    const auto bind = [&](TableGrad(*tables)[kMaxTables], int count) ATTN_LAMBDA {
      for (int i = 0; i < count; ++i)
        for (int slot = 0; slot < kMaxTables; ++slot) {
          TableGrad& t = tables[i][slot];
          if (t.data != nullptr && t.shape[2] <= 1)
            t.data = static_cast<float*>(t.data) - head0 * t.strides[1];
        }
    };
    bind(local_scores, score_count);
    bind(local_factors, factor_count);
  }
};

}  // namespace attn::cpu::inline ATTN_TARGET
