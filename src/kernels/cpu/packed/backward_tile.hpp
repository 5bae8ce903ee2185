/// One tile of the backward pass: scores are made again, and all five products run while they
/// are in cache.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstdint>

#include "attn/core/math.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/stage.hpp"
#include "kernels/cpu/additive/backward.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/packed/backward_plan.hpp"
#include "kernels/cpu/packed/backward_read.hpp"
#include "kernels/cpu/packed/backward_scratch.hpp"
#include "kernels/cpu/packed/backward_write.hpp"
#include "kernels/cpu/packed/pack.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/score_tile.hpp"
#include "kernels/cpu/similarity.hpp"
#include "kernels/cpu/tiles.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// s = scores (each modifier's input is kept), grad = gradient of the pooled weights.
ATTN_FN void make_tile(const BackwardPlan& bp, const TilePlace& at, bool masked, int column,
                       BackwardScratch& scratch) {
  const Plan& plan = bp.base;
  const int kv_head = at.head / plan.group;
  const bool kept = plan.similarities.data != nullptr;
  if (kept) {
    recall_similarities(plan, at, scratch.s, kBackwardStride);
  } else {
    score_block(plan, kv_head, at.rows, at.cols, scratch.q.data, scratch.q.stride,
                {scratch.key_panels, column}, scratch.s, kBackwardStride);
  }
  const int cols = round_up(at.cols, kLanes);
  if (scratch.short_head && kept && masked) {
    // Zeros were kept where the mask left keys out, whatever those are.
    scratch.queries_finite =
        all_finite(scratch.q.data, scratch.q.stride, at.rows, plan.channels);
    scratch.keys_finite =
        all_finite(scratch.keys.data, scratch.keys.stride, at.cols, plan.channels);
  } else if (scratch.short_head) {
    // A query or key that is not finite makes its whole row or column so.
    scratch.queries_finite = scratch.keys_finite =
        all_finite(scratch.s, kBackwardStride, at.rows, cols);
  }
  for (int m = 0; m < plan.score_count; ++m) {
    float* input = scratch.inputs + m * BackwardScratch::kTile;
    copy_tile(at.rows, cols, scratch.s, kBackwardStride, input, kBackwardStride);
    apply(plan.scores[m], at, scratch.s, kBackwardStride);
  }
  if (masked) apply_mask_where_needed(plan, at, scratch.s, kBackwardStride, scratch.bits);
  fill_tail(at.rows, at.cols, scratch.s, kBackwardStride, -kInfinity);
  multiply_packed<false>(at.rows, cols, plan.value_channels,
                         {scratch.d_out.data, scratch.d_out.stride, 1},
                         {scratch.value_panels, column}, scratch.grad, kBackwardStride);
  if (scratch.short_head)
    scratch.d_out_finite = all_finite(scratch.grad, kBackwardStride, at.rows, cols);
  if (bp.d_weights != nullptr)
    for (int r = 0; r < at.rows; ++r)
      for (int c = 0; c < at.cols; ++c)
        scratch.grad[r * kBackwardStride + c] +=
            bp.d_weights->at(at.batch, at.head, at.q + r, at.k + c);
}

/// Runs the gradient back through the weight modifiers; the pooled weights stay in the last of
/// scratch.inputs. Returns where the weights that pool the values are.
ATTN_FN float* factors_backward(const BackwardPlan& bp, const TilePlace& at,
                                BackwardScratch& scratch, bool with_tables) {
  const Plan& plan = bp.base;
  if (plan.factor_count == 0) return scratch.s;
  const FlatNormaliser& n = plan.normaliser;
  float* first = scratch.inputs + plan.score_count * BackwardScratch::kTile;
  const int cols = round_up(at.cols, kLanes);
  copy_tile(at.rows, cols, scratch.s, kBackwardStride, first, kBackwardStride);
  n.ops->weights(n.functor, at, first, kBackwardStride, scratch.stat);
  for (int f = 0; f < plan.factor_count; ++f) {
    float* next = first + (f + 1) * BackwardScratch::kTile;
    copy_tile(at.rows, cols, first + f * BackwardScratch::kTile, kBackwardStride, next,
              kBackwardStride);
    apply(plan.weight_modifiers[f], at, next, kBackwardStride);
  }
  float* pooled = first + plan.factor_count * BackwardScratch::kTile;
  // A masked place keeps weight zero and gradient zero whatever a modifier makes of it.
  for (int r = 0; r < at.rows; ++r)
    for (int c = 0; c < cols; c += kLanes) {
      const std::int64_t place = r * kBackwardStride + c;
      const LaneMask off = Lane::load(scratch.s + place) == Lane(-kInfinity);
      select(off, Lane(0.0f), Lane::load(pooled + place)).store(pooled + place);
      select(off, Lane(0.0f), Lane::load(scratch.grad + place)).store(scratch.grad + place);
    }
  for (int f = plan.factor_count; f-- > 0;)
    plan.weight_modifiers[f].ops->backward(
        plan.weight_modifiers[f].functor, plan.weight_modifiers[f].tables,
        with_tables ? scratch.local_factors[f] : nullptr, plan.weight_modifiers[f].slots, at,
        first + f * BackwardScratch::kTile, scratch.grad, kBackwardStride);
  return pooled;
}

/// keys' gradients += weights^T rows of queries, or = if nothing was added before. A pair that
/// does not count has weight zero, and leaves out what its query holds where that may not be
/// finite.
ATTN_FN void add_to_keys(const TilePlace& at, int channels, const float* w, Right rows,
                         bool finite, bool first, SumRows to, int column) {
  multiply(!first, finite, at.cols, channels, at.rows, {w, 1, kBackwardStride}, rows,
           to.data + column * to.stride, to.stride);
}

/// rows of the tile's gradients *= factor.
ATTN_FN void scale_tile(const TilePlace& at, float factor, float* grad) {
  for (int r = 0; r < at.rows; ++r)
    for (int c = 0; c < at.cols; c += kLanes) {
      float* place = grad + r * kBackwardStride + c;
      (Lane::load(place) * Lane(factor)).store(place);
    }
}

/// The products of a tile's gradients with its keys and queries.
ATTN_FN void tile_products(const BackwardPlan& bp, const TilePlace& at, int column,
                           const float* pooled, SumRows dq, BackwardScratch& scratch) {
  const Plan& plan = bp.base;
  const int channels = round_up(gradient_depth(plan), kLanes);
  // dV += W^T dO
  add_to_keys(at, round_up(plan.value_channels, kLanes), pooled,
              {scratch.d_out.data, scratch.d_out.stride}, scratch.d_out_finite,
              scratch.sums_empty, scratch.dv, column);
  if (plan.similarity == Similarity::additive) {
    const int within = column % kPanel;
    const std::int64_t panel = static_cast<std::int64_t>(column - within) * depth_of(plan);
    additive_backward(at.rows, round_up(at.cols, kLanes), plan.channels, scratch.q.data,
                      scratch.q.stride, scratch.key_panels + panel, within,
                      weights_of(plan, at.head / plan.group), plan.weights.strides[3],
                      scratch.grad, kBackwardStride, dq.data, dq.stride,
                      scratch.dk.data + panel, scratch.d_weights);
  } else if (channels > 0) {
    if (scratch.short_head && !scratch.values_scaled) scale_tile(at, plan.scale, scratch.grad);
    // dK += dS^T Q, dQ = dS K
    add_to_keys(at, channels, scratch.grad, {scratch.q.data, scratch.q.stride},
                scratch.queries_finite, scratch.sums_empty, scratch.dk, column);
    multiply(false, scratch.keys_finite, at.rows, channels, at.cols,
             {scratch.grad, kBackwardStride, 1},
             {scratch.keys.data + column * scratch.keys.stride, scratch.keys.stride}, dq.data,
             dq.stride);
  }
  scratch.sums_empty = false;
}

/// Whether a tile's dQ can be written by the product itself: it is all there is to the rows.
ATTN_FN bool writes_queries(const BackwardPlan& bp, const BackwardScratch& scratch) {
  return scratch.short_head && bp.dq_direct && bp.dq_sum != nullptr &&
         bp.base.channels % kLanes == 0;
}

/// One tile of queries against the block of keys.
[[gnu::noinline]] inline void backward_tile(const BackwardPlan& bp, const BackwardTask& task,
                                            int head, TilePlace at, BackwardScratch& scratch) {
  const Plan& plan = bp.base;
  const Turn turn = turn_of(bp, task, head, at.q / kBackwardRows);
  const int block_first = at.k;
  Kept kept = at.cols > 0 ? kept_columns(plan, at) : Kept{};
  if (kept.begin == kept.end) {
    wait_for(*turn.counter, turn.number);
    if (task.block == 0 && bp.dq_sum != nullptr)
      add_queries(bp, task, head, at.q, at.rows, nullptr, 0);
    turn.counter->store(turn.number + 1, std::memory_order_release);
    return;
  }
  // The one tile of a short head writes the gradients of all its keys.
  if (scratch.short_head) kept = {0, at.cols, kept.masked};
  at.k += kept.begin;
  at.cols = kept.end - kept.begin;
  const int column = at.k - block_first;
  read_queries(bp, task.batch, head, at.q, at.rows, scratch);
  make_tile(bp, at, kept.masked, column, scratch);
  bool waited = false;
  if (bp.rows_ordered) {
    wait_for(*turn.counter, turn.number);
    waited = true;
  }
  const float* pooled = factors_backward(bp, at, scratch, true);
  const FlatNormaliser& n = plan.normaliser;
  n.ops->backward(n.functor, at, scratch.s, scratch.grad, kBackwardStride, scratch.stat,
                  scratch.delta);
  for (int m = plan.score_count; m-- > 0;)
    plan.scores[m].ops->backward(plan.scores[m].functor, plan.scores[m].tables,
                                 scratch.local_scores[m], plan.scores[m].slots, at,
                                 scratch.inputs + m * BackwardScratch::kTile, scratch.grad,
                                 kBackwardStride);
  const bool direct = writes_queries(bp, scratch);
  const SumRows dq = direct ? SumRows{bp.dq_row(task.batch, head), bp.dq_stride}
                            : SumRows{scratch.dq_rows, scratch.g_stride};
  tile_products(bp, at, column, pooled, dq, scratch);
  if (!waited) wait_for(*turn.counter, turn.number);
  if (bp.dq_sum != nullptr && !direct)
    add_queries(bp, task, head, at.q, at.rows, dq.data, dq.stride);
  turn.counter->store(turn.number + 1, std::memory_order_release);
}

}  // namespace attn::cpu::inline ATTN_TARGET
