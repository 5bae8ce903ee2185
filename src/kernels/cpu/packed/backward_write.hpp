/// What the backward pass writes: gradients of raw rows, and each task's share of the tables.
/// Blocks of keys add to the gradients of the queries one after the other, in turns.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/recipe.hpp"
#include "kernels/cpu/additive/backward.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/packed/backward_plan.hpp"
#include "kernels/cpu/packed/backward_scratch.hpp"
#include "kernels/cpu/packed/pack.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/scratch.hpp"
#include "kernels/cpu/similarity.hpp"
#include "kernels/cpu/tiles.hpp"

namespace attn::cpu::inline ATTN_TARGET {

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
      if (side == Side::key && plan.scale != 1.0f)
        for (int c = 0; c < channels; ++c) grad[c] *= plan.scale;
    } else if (plan.similarity == Similarity::sum) {
      grad[0] = grad[side == Side::query ? 0 : 1];
    }
  }
}

/// Whether the products can write the gradients of a short head's keys, or values, where the
/// caller wants them.
ATTN_FN bool writes_in_place(const RawRows& rows, int channels) {
  return rows.base != nullptr && lies_as_float(rows, channels);
}

ATTN_FN void clear_rows(SumRows rows, int count, std::int64_t channels) {
  for (int r = 0; r < count; ++r)
    for (std::int64_t c = 0; c < channels; c += kLanes)
      Lane(0.0f).store(rows.data + r * rows.stride + c);
}

/// Chooses where the gradients of the block's keys and values are summed.
ATTN_FN void open_sums(const BackwardPlan& bp, const BackwardTask& task, int count,
                       BackwardScratch& scratch) {
  const Plan& plan = bp.base;
  scratch.dk = {scratch.dk_rows, scratch.g_stride};
  scratch.dv = {scratch.dv_rows, scratch.v_stride};
  scratch.sums_empty = scratch.short_head;
  for (int c = 0; c < plan.channels; ++c) scratch.d_weights[c] = 0.0f;
  if (scratch.short_head) {
    const RawRows dk = plan.key_rows(bp.dk, task.batch, task.kv_head);
    const RawRows dv = plan.key_rows(bp.dv, task.batch, task.kv_head);
    if (writes_in_place(dk, plan.channels)) scratch.dk = {static_cast<float*>(dk.base), dk.row};
    if (writes_in_place(dv, plan.value_channels))
      scratch.dv = {static_cast<float*>(dv.base), dv.row};
  } else {
    clear_rows(scratch.dk, round_up(count, kPanel), scratch.g_stride);
    clear_rows(scratch.dv, count, scratch.v_stride);
  }
}

/// Writes the gradients of the block's keys and values, where they are not written already.
[[gnu::noinline]] inline void close_sums(const BackwardPlan& bp, const BackwardTask& task,
                                         int first, int count, BackwardScratch& scratch) {
  const Plan& plan = bp.base;
  if (scratch.sums_empty) {  // nobody looked at these keys
    clear_rows(scratch.dk, count, plan.channels);
    clear_rows(scratch.dv, count, plan.value_channels);
  }
  float* dk = scratch.dk.data;
  if (!scratch.short_head && (bp.dk.data != nullptr || bp.weights.data != nullptr)) {
    if (plan.similarity != Similarity::dot && plan.similarity != Similarity::additive)
      read_rows(plan.key_rows(plan.k, task.batch, task.kv_head), first, count, plan.channels,
                scratch.rows, scratch.q_stride);
    if (plan.similarity == Similarity::additive) {
      dk = scratch.key_rows;  // no longer needed
      additive_key_rows(scratch.dk.data, count, plan.channels, weights_of(plan, task.kv_head),
                        plan.weights.strides[3], dk, scratch.g_stride);
    }
    gradients_of_raw(plan, task.kv_head, Side::key, dk, scratch.g_stride, scratch.rows,
                     scratch.q_stride, count, scratch.d_weights);
  }
  if (bp.dk.data != nullptr && (dk == scratch.dk_rows || dk == scratch.key_rows))
    write_rows(dk, scratch.g_stride, count, plan.channels,
               plan.key_rows(bp.dk, task.batch, task.kv_head), first);
  if (bp.dv.data != nullptr && scratch.dv.data == scratch.dv_rows)
    write_rows(scratch.dv_rows, scratch.v_stride, count, plan.value_channels,
               plan.key_rows(bp.dv, task.batch, task.kv_head), first);
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

/// Turns the summed gradients of one head's queries into those of the raw queries and writes
/// them; adds what the similarity's weights get to d_weights.
inline void backward_queries(const BackwardPlan& bp, int batch, int head, std::byte* memory,
                             float* d_weights) {
  const Plan& plan = bp.base;
  Scratch pieces{memory};
  BackwardScratch scratch(bp, batch, pieces);
  const int queries = plan.queries(batch);
  for (int q = 0; q < queries; q += kBackwardRows) {
    const int rows = min(kBackwardRows, queries - q);
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

}  // namespace attn::cpu::inline ATTN_TARGET
