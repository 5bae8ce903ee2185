/// Turns: blocks of keys add to the gradients of the queries one after the other.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/target.hpp"
#include "kernels/cpu/packed/backward_plan.hpp"
#include "kernels/cpu/packed/backward_scratch.hpp"

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

}  // namespace attn::cpu::inline ATTN_TARGET
