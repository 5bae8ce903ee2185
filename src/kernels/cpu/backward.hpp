/// The fused backward pass: tiles of scores are made again from the saved statistics, and all
/// five products run while they are in cache.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "attn/core/concepts.hpp"
#include "attn/core/dtype.hpp"
#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"
#include "attn/core/table.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/target.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/stage.hpp"
#include "kernels/cpu/additive_backward.hpp"
#include "kernels/cpu/backward_plan.hpp"
#include "kernels/cpu/forward.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/pack.hpp"
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
  float* keys;          ///< prepared keys [block, g_stride], for dQ
  float* value_panels;  ///< values [value channels, kPanel]
  float* dk;            ///< [block, g_stride]; of additive, panels like key_panels
  float* dv;            ///< [block, v_stride]
  float* q_rows;        ///< for queries [tile, g_stride]
  float* d_out_rows;    ///< [tile, v_stride]
  FloatRows q;          ///< prepared queries of the tile
  FloatRows d_out;
  float* dq;      ///< [tile, g_stride]
  float* s;       ///< scores, then weights
  float* grad;    ///< of weights, then of scores
  float* inputs;  ///< of each modifier and factor, and the pooled weights
  float* stat;
  float* delta;
  float* numerator;
  float* denominator;
  float* d_weights;  ///< of the similarity
  std::uint8_t* bits;
  bool keys_finite = true;
  bool queries_finite = true;
  bool d_out_finite = true;
  LocalTable* local;  ///< `locals` of them
  int locals = 0;
  TableGrad (*local_scores)[kMaxTables];
  TableGrad (*local_factors)[kMaxTables];

  static constexpr std::int64_t kTile = std::int64_t{kBackwardRows} * kBackwardStride;

  BackwardScratch(const BackwardPlan& bp, Scratch& scratch) {
    const Plan& plan = bp.base;
    const int depth = depth_of(plan);
    q_stride = ForwardScratch::row_stride(plan);
    v_stride = odd_lines(plan.value_channels);
    int widest = gradient_depth(plan) > plan.channels ? gradient_depth(plan) : plan.channels;
    if (widest < depth) widest = depth;
    g_stride = odd_lines(widest > 2 ? widest : 2);
    rows = scratch.take<float>(kBackwardCols * (q_stride > v_stride ? q_stride : v_stride));
    key_panels = scratch.take<float>(round_up(kBackwardCols, kPanel) * depth);
    keys = scratch.take<float>(kBackwardCols * g_stride);
    value_panels = scratch.take<float>(round_up(kBackwardCols, kPanel) * plan.value_channels);
    dk = scratch.take<float>(kBackwardCols * g_stride);
    dv = scratch.take<float>(kBackwardCols * v_stride);
    q_rows = scratch.take<float>(kBackwardRows * g_stride);
    d_out_rows = scratch.take<float>(kBackwardRows * v_stride);
    dq = scratch.take<float>(kBackwardRows * (g_stride > v_stride ? g_stride : v_stride));
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
    add_locals(bp.factors, plan.factors, plan.factor_count, local_factors, plan, scratch);
  }

  /// Tables without rows of their own are summed here first; the others are written in turn.
  void add_locals(const StageGrads* grads, const FlatStage* stages, int count,
                  TableGrad (*tables)[kMaxTables], const Plan& plan, Scratch& scratch) {
    const bool counting = scratch.base == nullptr;
    for (int i = 0; i < count; ++i)
      for (int slot = 0; slot < kMaxTables; ++slot) {
        if (!counting) tables[i][slot] = TableGrad{};
        if (grads[i].tables == nullptr || slot >= stages[i].slots) continue;
        const TableGrad& to = grads[i].tables[slot];
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

/// Packs one block of keys and values for the backward products.
[[gnu::noinline]] inline void pack_block(const Plan& plan, int batch, int kv_head, int first,
                                         int count, BackwardScratch& scratch) {
  const int depth = depth_of(plan);
  const std::int64_t stride = scratch.g_stride;
  if (depth > 0) {
    read_rows(plan.key_rows(plan.k, batch, kv_head), first, count, plan.channels, scratch.keys,
              stride);
    prepare_rows(plan, kv_head, Side::key, scratch.keys, stride, count);
    transpose_panels(scratch.keys, stride, count, depth,
                     plan.similarity == Similarity::dot ? plan.scale : 1.0f,
                     scratch.key_panels);
    for (int j = 0; j < count; ++j) {
      float* row = scratch.keys + j * stride;
      // dQ = dS (scale K): the scale is paid once a key here.
      if (plan.similarity == Similarity::dot && plan.scale != 1.0f)
        for (int c = 0; c < depth; ++c) row[c] *= plan.scale;
      if (plan.similarity == Similarity::distance) row[depth] = 1.0f;
    }
    scratch.keys_finite = all_finite(scratch.keys, stride, count, depth);
  }
  const FloatRows values = float_rows(plan.key_rows(plan.v, batch, kv_head), first, count,
                                      plan.value_channels, scratch.rows, scratch.v_stride);
  transpose_panels(values.data, values.stride, count, plan.value_channels, 1.0f,
                   scratch.value_panels);
}

/// Reads one tile of queries with what goes with them.
ATTN_FN void read_queries(const BackwardPlan& bp, int batch, int head, int first, int count,
                          BackwardScratch& scratch) {
  const Plan& plan = bp.base;
  // A short head is used where it lies. Longer ones are copied: their own strides may make rows
  // share sets of the cache, and they come by once for each block of keys.
  const bool in_place = plan.queries(batch) <= kShortQueries;
  const RawRows q = plan.query_rows(plan.q, batch, head);
  const RawRows d_out = plan.query_rows(bp.d_out, batch, head);
  scratch.q = {scratch.q_rows, scratch.g_stride};
  scratch.d_out = {scratch.d_out_rows, scratch.v_stride};
  if (in_place) {
    scratch.d_out = float_rows(d_out, first, count, plan.value_channels, scratch.d_out_rows,
                               scratch.v_stride);
  } else {
    read_rows(d_out, first, count, plan.value_channels, scratch.d_out_rows, scratch.v_stride);
  }
  if (in_place && plan.similarity == Similarity::dot) {
    scratch.q = float_rows(q, first, count, plan.channels, scratch.q_rows, scratch.g_stride);
  } else if (depth_of(plan) > 0) {
    read_rows(q, first, count, plan.channels, scratch.q_rows, scratch.g_stride);
    if (plan.similarity != Similarity::dot)
      prepare_rows(plan, head / plan.group, Side::query, scratch.q_rows, scratch.g_stride,
                   count);
    if (plan.similarity == Similarity::distance)
      for (int r = 0; r < count; ++r)
        scratch.q_rows[r * scratch.g_stride + plan.channels] = 1.0f;
  }
  scratch.queries_finite = all_finite(scratch.q.data, scratch.q.stride, count, depth_of(plan));
  scratch.d_out_finite =
      all_finite(scratch.d_out.data, scratch.d_out.stride, count, plan.value_channels);
  const float* stat = plan.stat_row(plan.stat, batch, head);
  const float* delta = bp.delta_row(batch, head);
  for (int r = 0; r < count; ++r) {
    scratch.stat[r] = stat[(first + r) * plan.stat.strides[2]];
    scratch.delta[r] = delta[first + r];
  }
}

/// s = scores (each modifier's input is kept), grad = gradient of the pooled weights.
ATTN_FN void make_tile(const BackwardPlan& bp, const TilePlace& at, bool masked, int column,
                       BackwardScratch& scratch) {
  const Plan& plan = bp.base;
  const int kv_head = at.head / plan.group;
  const int depth = depth_of(plan);
  score_block(plan, kv_head, at.rows, at.cols, scratch.q.data, scratch.q.stride,
              scratch.key_panels + static_cast<std::int64_t>(column) * depth, scratch.s,
              kBackwardStride);
  for (int m = 0; m < plan.score_count; ++m) {
    float* input = scratch.inputs + m * BackwardScratch::kTile;
    for (int r = 0; r < at.rows; ++r)
      for (int c = 0; c < round_up(at.cols, kLanes); c += kLanes)
        Lane::load(scratch.s + r * kBackwardStride + c).store(input + r * kBackwardStride + c);
    plan.scores[m].ops->forward(plan.scores[m].functor, plan.scores[m].tables, at, scratch.s,
                                kBackwardStride);
  }
  if (masked) apply_mask_where_needed(plan, at, scratch.s, kBackwardStride, scratch.bits);
  fill_tail(at.rows, at.cols, scratch.s, kBackwardStride, -kInfinity);
  multiply_packed<false>(
      at.rows, round_up(at.cols, kLanes), plan.value_channels,
      {scratch.d_out.data, scratch.d_out.stride, 1},
      scratch.value_panels + static_cast<std::int64_t>(column) * plan.value_channels,
      scratch.grad, kBackwardStride);
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
  const auto copy = [&](const float* from, float* to) ATTN_LAMBDA {
    for (int r = 0; r < at.rows; ++r)
      for (int c = 0; c < cols; c += kLanes)
        Lane::load(from + r * kBackwardStride + c).store(to + r * kBackwardStride + c);
  };
  copy(scratch.s, first);
  n.ops->weights(n.functor, at, first, kBackwardStride, scratch.stat);
  for (int f = 0; f < plan.factor_count; ++f) {
    float* next = first + (f + 1) * BackwardScratch::kTile;
    copy(first + f * BackwardScratch::kTile, next);
    plan.factors[f].ops->forward(plan.factors[f].functor, plan.factors[f].tables, at, next,
                                 kBackwardStride);
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
    plan.factors[f].ops->backward(plan.factors[f].functor, plan.factors[f].tables,
                                  with_tables ? scratch.local_factors[f] : nullptr,
                                  plan.factors[f].slots, at, first + f * BackwardScratch::kTile,
                                  scratch.grad, kBackwardStride);
  return pooled;
}

/// Waits until `turn` blocks have been here.
ATTN_FN void wait_for(const std::atomic<int>& counter, int turn) {
  int spins = 0;
  while (counter.load(std::memory_order_acquire) != turn) {
    if (++spins > 64) {
      yield_thread();
      spins = 0;
    }
  }
}

struct Turn {
  std::atomic<int>* counter;
  int number;
};

ATTN_FN Turn turn_of(const BackwardPlan& bp, const BackwardTask& task, int head, int tile) {
  if (bp.turns_shared) {
    const int before =
        (task.batch * bp.base.kv_heads + task.kv_head) * bp.base.group * bp.blocks;
    // Heads of a group pass one after the other inside a task, so a block's turn on a tile
    // comes once for each of them.
    return {bp.turns + tile, before + task.block * bp.base.group + head % bp.base.group};
  }
  const std::int64_t row = static_cast<std::int64_t>(task.batch) * bp.base.heads + head;
  return {bp.turns + row * bp.query_tiles + tile, task.block};
}

/// Adds the tile's dQ to the sums, or writes it if this is the first block.
ATTN_FN void add_queries(const BackwardPlan& bp, const BackwardTask& task, int head, int first,
                         int count, const float* dq, std::int64_t stride) {
  const int channels = gradient_depth(bp.base);
  float* to = bp.dq_row(task.batch, head) + first * bp.dq_stride;
  for (int r = 0; r < count; ++r) {
    float* row = to + r * bp.dq_stride;
    int c = 0;
    for (; c + kLanes <= channels; c += kLanes) {
      const Lane x = dq == nullptr ? Lane(0.0f) : Lane::load(dq + r * stride + c);
      (task.block == 0 ? x : x + Lane::load(row + c)).store(row + c);
    }
    for (; c < channels; ++c) {
      const float x = dq == nullptr ? 0.0f : dq[r * stride + c];
      row[c] = task.block == 0 ? x : x + row[c];
    }
  }
}

/// keys' gradients += weights^T rows of queries. A pair that does not count has weight zero,
/// and leaves out what its query holds where that may not be finite.
ATTN_FN void add_to_keys(const TilePlace& at, int channels, const float* w, Right rows,
                         bool finite, float* to, std::int64_t stride) {
  const Left left{w, 1, kBackwardStride};
  if (finite) {
    multiply<true>(at.cols, channels, at.rows, left, rows, to, stride);
  } else {
    multiply_panel_skipping<true>(at.cols, channels / kLanes, at.rows, left, rows, to, stride);
  }
}

/// One tile of queries against the block of keys.
[[gnu::noinline]] inline void backward_tile(const BackwardPlan& bp, const BackwardTask& task,
                                            int head, TilePlace at, BackwardScratch& scratch) {
  const Plan& plan = bp.base;
  const int tile = at.q / kBackwardRows;
  const Turn turn = turn_of(bp, task, head, tile);
  const int block_first = at.k;
  const Kept kept = at.cols > 0 ? kept_columns(plan, at) : Kept{};
  if (kept.begin == kept.end) {
    wait_for(*turn.counter, turn.number);
    if (task.block == 0 && bp.dq_sum != nullptr)
      add_queries(bp, task, head, at.q, at.rows, nullptr, 0);
    turn.counter->store(turn.number + 1, std::memory_order_release);
    return;
  }
  at.k += kept.begin;
  at.cols = kept.end - kept.begin;
  const int column = at.k - block_first;
  const int cols = round_up(at.cols, kLanes);
  read_queries(bp, task.batch, head, at.q, at.rows, scratch);
  make_tile(bp, at, kept.masked, column, scratch);
  const FlatNormaliser& n = plan.normaliser;
  bool waited = false;
  if (bp.rows_ordered) {
    wait_for(*turn.counter, turn.number);
    waited = true;
  }
  const float* pooled = factors_backward(bp, at, scratch, true);
  n.ops->backward(n.functor, at, scratch.s, scratch.grad, kBackwardStride, scratch.stat,
                  scratch.delta);
  for (int m = plan.score_count; m-- > 0;)
    plan.scores[m].ops->backward(plan.scores[m].functor, plan.scores[m].tables,
                                 scratch.local_scores[m], plan.scores[m].slots, at,
                                 scratch.inputs + m * BackwardScratch::kTile, scratch.grad,
                                 kBackwardStride);
  // dV += W^T dO
  add_to_keys(at, round_up(plan.value_channels, kLanes), pooled,
              {scratch.d_out.data, scratch.d_out.stride}, scratch.d_out_finite,
              scratch.dv + column * scratch.v_stride, scratch.v_stride);
  const int channels = round_up(gradient_depth(plan), kLanes);
  const std::int64_t stride = scratch.g_stride;
  if (plan.similarity == Similarity::additive) {
    additive_backward(at.rows, cols, plan.channels, scratch.q.data, scratch.q.stride,
                      scratch.key_panels + static_cast<std::int64_t>(column) * depth_of(plan),
                      weights_of(plan, task.kv_head), plan.weights.strides[3], scratch.grad,
                      kBackwardStride, scratch.dq, stride,
                      scratch.dk + static_cast<std::int64_t>(column) * depth_of(plan),
                      scratch.d_weights);
  } else if (channels > 0) {
    // dK += dS^T Q, dQ = dS K
    add_to_keys(at, channels, scratch.grad, {scratch.q.data, scratch.q.stride},
                scratch.queries_finite, scratch.dk + column * stride, stride);
    const Left left{scratch.grad, kBackwardStride, 1};
    const Right right{scratch.keys + column * stride, stride};
    if (scratch.keys_finite) {
      multiply<false>(at.rows, channels, at.cols, left, right, scratch.dq, stride);
    } else {
      multiply_panel_skipping<false>(at.rows, channels / kLanes, at.cols, left, right,
                                     scratch.dq, stride);
    }
  }
  if (!waited) wait_for(*turn.counter, turn.number);
  if (bp.dq_sum != nullptr) add_queries(bp, task, head, at.q, at.rows, scratch.dq, stride);
  turn.counter->store(turn.number + 1, std::memory_order_release);
}

ATTN_FN bool all_zero(const float* row, int channels) {
  for (int c = 0; c < channels; ++c)
    if (row[c] != 0.0f) return false;
  return true;
}

/// Turns prepared-space gradients [count, stride] into those of the raw rows [count,
/// raw_stride], in place; adds what the similarity's weights get from this side.
[[gnu::noinline]] inline void gradients_of_raw(const Plan& plan, int kv_head, Side side,
                                               float* grads, std::int64_t stride,
                                               const float* raw, std::int64_t raw_stride,
                                               int count, float* d_weights) {
  const int channels = plan.channels;
  for (int r = 0; r < count; ++r) {
    float* grad = grads + r * stride;
    const float* row = raw + r * raw_stride;
    // Nobody looked at a row without gradients: what it holds may not be finite.
    if (all_zero(grad, gradient_depth(plan))) continue;
    if (plan.similarity == Similarity::cosine) {
      const float inverse = inverse_norm(row, channels);
      const float scale = side == Side::query ? plan.scale : 1.0f;
      float along = 0.0f;
      for (int c = 0; c < channels; ++c) along += row[c] * inverse * grad[c];
      for (int c = 0; c < channels; ++c)
        grad[c] = scale * inverse * (grad[c] - row[c] * inverse * along);
    } else if (plan.similarity == Similarity::distance) {
      const bool weighted = plan.weights.data != nullptr;
      const float* w = weighted ? weights_of(plan, kv_head) : nullptr;
      const float total = grad[channels];
      for (int c = 0; c < channels; ++c) {
        const float width = weighted ? w[c * plan.weights.strides[3]] : 1.0f;
        const float prepared = grad[c] - total * width * row[c];
        if (d_weights != nullptr && weighted)
          d_weights[c * plan.weights.strides[3]] += prepared * row[c];
        grad[c] = width * prepared;
      }
    } else if (plan.similarity == Similarity::dot) {
      // The keys carried the scale in the scores and in dQ; dK = scale * dS^T Q.
      if (side == Side::key)
        for (int c = 0; c < channels; ++c) grad[c] *= plan.scale;
    } else if (plan.similarity == Similarity::sum) {
      grad[0] = grad[side == Side::query ? 0 : 1];
    }
  }
}

/// Waits for the task's turn and adds its sums to the tables.
[[gnu::noinline]] inline void commit(const BackwardPlan& bp, const BackwardTask& task,
                                     BackwardScratch& scratch) {
  const bool weights = bp.weights.data != nullptr;
  if (scratch.locals == 0 && !weights) return;
  wait_for(*bp.committed, task.index);
  for (int i = 0; i < scratch.locals; ++i) {
    const LocalTable& sum = scratch.local[i];
    for (int r = 0; r < sum.rows; ++r) {
      const int head = sum.rows > 1           ? task.kv_head * bp.base.group + r
                       : sum.to->shape[1] > 1 ? task.kv_head * bp.base.group
                                              : 0;
      float* to = static_cast<float*>(sum.to->data) + task.batch * sum.to->strides[0] +
                  head * sum.to->strides[1];
      for (std::int64_t e = 0; e < sum.entries; ++e)
        to[e * sum.to->strides[3]] += sum.sums[r * sum.entries + e];
    }
  }
  if (weights) {
    float* to = static_cast<float*>(bp.weights.data) + task.kv_head * bp.weights.strides[1];
    for (std::int64_t c = 0; c < bp.weights.shape[3]; ++c)
      to[c * bp.weights.strides[3]] += scratch.d_weights[c];
  }
  bp.committed->store(task.index + 1, std::memory_order_release);
}

/// delta of all queries of one head: dO . O where that is enough, else the sums over all tiles.
inline void backward_deltas(const BackwardPlan& bp, int batch, int head, std::byte* memory) {
  const Plan& plan = bp.base;
  Scratch pieces{memory};
  BackwardScratch scratch(bp, pieces);
  const int queries = plan.queries(batch);
  float* delta = bp.delta_row(batch, head);
  float* denominator = pieces.take<float>(bp.max_queries);
  for (int i = 0; i < queries; ++i) delta[i] = denominator[i] = 0.0f;
  const Coupling coupling = plan.normaliser.coupling;
  if (coupling == Coupling::none) return;

  if (!bp.couples) {
    const RawRows out = plan.query_rows(plan.out, batch, head);
    const RawRows d_out = plan.query_rows(bp.d_out, batch, head);
    for (int i = 0; i < queries; i += kBackwardRows) {
      const int rows = queries - i < kBackwardRows ? queries - i : kBackwardRows;
      const FloatRows pooled =
          float_rows(out, i, rows, plan.value_channels, scratch.dq, scratch.v_stride);
      const FloatRows upstream =
          float_rows(d_out, i, rows, plan.value_channels, scratch.d_out_rows, scratch.v_stride);
      for (int r = 0; r < rows; ++r) {
        Lane sum(0.0f);
        for (int c = 0; c < plan.value_channels; c += kLanes) {
          const Lane o = Lane::load(pooled.data + r * pooled.stride + c);
          const Lane d = Lane::load(upstream.data + r * upstream.stride + c);
          // A row without keys is zero: what arrives there may not be finite.
          sum = multiply_add(o, select(o == Lane(0.0f), Lane(0.0f), d), sum);
        }
        delta[i + r] = reduce_sum(sum);
      }
    }
  } else {
    const int keys = plan.keys(batch);
    for (int k = 0; k < keys; k += kBackwardCols) {
      const int count = keys - k < kBackwardCols ? keys - k : kBackwardCols;
      pack_block(plan, batch, head / plan.group, k, count, scratch);
      for (int q = 0; q < queries; q += kBackwardRows) {
        TilePlace at{
            batch, head, q, k, queries - q < kBackwardRows ? queries - q : kBackwardRows,
            count};
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
  const float* d_stat = plan.stat_row(bp.d_stat, batch, head);
  for (int i = 0; i < queries; ++i) {
    if (coupling == Coupling::support)
      delta[i] = denominator[i] > 0.0f ? delta[i] / denominator[i] : 0.0f;
    if (coupling == Coupling::output && d_stat != nullptr)
      delta[i] -= d_stat[i * bp.d_stat.strides[2]];
  }
}

/// Turns the summed gradients of one head's queries into those of the raw queries and writes
/// them; adds what the similarity's weights get to d_weights.
inline void backward_queries(const BackwardPlan& bp, int batch, int head, std::byte* memory,
                             float* d_weights) {
  const Plan& plan = bp.base;
  Scratch pieces{memory};
  BackwardScratch scratch(bp, pieces);
  const int queries = plan.queries(batch);
  for (int q = 0; q < queries; q += kBackwardRows) {
    const int rows = queries - q < kBackwardRows ? queries - q : kBackwardRows;
    read_rows(plan.query_rows(plan.q, batch, head), q, rows, plan.channels, scratch.q_rows,
              scratch.g_stride);
    float* sums = bp.dq_row(batch, head) + q * bp.dq_stride;
    gradients_of_raw(plan, head / plan.group, Side::query, sums, bp.dq_stride, scratch.q_rows,
                     scratch.g_stride, rows, d_weights);
    if (bp.dq.data != nullptr)
      write_rows(sums, bp.dq_stride, rows, plan.channels, plan.query_rows(bp.dq, batch, head),
                 q);
  }
}

inline std::size_t backward_bytes(const BackwardPlan& bp) {
  Scratch count;
  const BackwardScratch layout(bp, count);
  count.take<float>(bp.max_queries);
  return count.used;
}

inline void backward(const BackwardPlan& bp, const BackwardTask& task, std::byte* memory) {
  const Plan& plan = bp.base;
  Scratch pieces{memory};
  BackwardScratch scratch(bp, pieces);
  scratch.bind_heads(task.kv_head * plan.group, plan.score_count, plan.factor_count);
  const int keys = plan.keys(task.batch);
  const int first = task.block * kBackwardCols;
  int count = keys - first < kBackwardCols ? keys - first : kBackwardCols;
  if (count < 0) count = 0;  // a shorter sequence than the longest: only the turns are passed
  pack_block(plan, task.batch, task.kv_head, first, count, scratch);
  for (std::int64_t i = 0; i < round_up(count, kPanel) * scratch.g_stride; ++i)
    scratch.dk[i] = 0.0f;
  for (std::int64_t i = 0; i < count * scratch.v_stride; ++i) scratch.dv[i] = 0.0f;
  for (int c = 0; c < plan.channels; ++c) scratch.d_weights[c] = 0.0f;

  const int queries = plan.queries(task.batch);
  for (int h = task.kv_head * plan.group; h < (task.kv_head + 1) * plan.group; ++h) {
    // The last queries first: a causal mask gives every block of keys work there, so that
    // blocks on other threads follow one tile behind.
    for (int tile = bp.query_tiles; tile-- > 0;) {
      const int q = tile * kBackwardRows;
      const int rows = queries - q < kBackwardRows ? queries - q : kBackwardRows;
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
  if (count > 0 && (bp.dk.data != nullptr || bp.weights.data != nullptr)) {
    if (plan.similarity != Similarity::dot && plan.similarity != Similarity::additive)
      read_rows(plan.key_rows(plan.k, task.batch, task.kv_head), first, count, plan.channels,
                scratch.rows, scratch.q_stride);
    float* dk = scratch.dk;
    if (plan.similarity == Similarity::additive) {
      dk = scratch.keys;  // no longer needed
      additive_key_rows(scratch.dk, count, plan.channels, weights_of(plan, task.kv_head),
                        plan.weights.strides[3], dk, scratch.g_stride);
    }
    gradients_of_raw(plan, task.kv_head, Side::key, dk, scratch.g_stride, scratch.rows,
                     scratch.q_stride, count, scratch.d_weights);
    if (bp.dk.data != nullptr)
      write_rows(dk, scratch.g_stride, count, plan.channels,
                 plan.key_rows(bp.dk, task.batch, task.kv_head), first);
  }
  if (count > 0 && bp.dv.data != nullptr)
    write_rows(scratch.dv, scratch.v_stride, count, plan.value_channels,
               plan.key_rows(bp.dv, task.batch, task.kv_head), first);
  commit(bp, task, scratch);
}

}  // namespace attn::cpu::inline ATTN_TARGET
