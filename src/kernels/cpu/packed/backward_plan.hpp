/// BackwardPlan: what the backward kernels read and write besides the forward's plan.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstdint>

#include "attn/kernels/args.hpp"
#include "kernels/cpu/plan.hpp"

namespace attn::cpu {

/// Work is cut into blocks of keys. Each block adds to the gradients of the queries in the
/// blocks' order, and hands its share of the tables' gradients over in the tasks' order, so
/// that sums do not depend on the number of threads.
struct BackwardPlan {
  Plan base;
  RawView d_out, dq, dk, dv;
  StatView d_stat;
  const WeightGrads<float>* d_weights = nullptr;  ///< null if none is given

  /// Gradients of each stage's tables: kMaxTables of them, or null.
  const TableGrad* scores[16] = {};
  const TableGrad* weight_modifiers[16] = {};
  TableGrad weights;  ///< of the similarity

  /// Prepared-space gradients of the queries, fp32: row i of head h of sequence b is
  /// dq_sum + offset(b, h) + i * dq_stride. Points into dq itself where that is possible.
  float* dq_sum = nullptr;
  std::int64_t dq_batch = 0;
  std::int64_t dq_head = 0;
  std::int64_t dq_stride = 0;
  bool dq_direct = false;

  float* delta = nullptr;  ///< [sequences, heads, max_queries]
  int max_queries = 0;
  bool couples = false;  ///< delta needs a pass over the tiles

  int blocks = 0;       ///< of keys, for each sequence and kv head
  int query_tiles = 0;  ///< of the longest sequence
  /// How many blocks have added to a tile of queries: [sequences, heads, query_tiles], or
  /// [query_tiles] if a table with rows of its own is shared by sequences or heads.
  std::atomic<int>* turns = nullptr;
  bool turns_shared = false;
  bool rows_ordered = false;  ///< score modifiers' gradients wait for their turn too
  std::atomic<int>* committed = nullptr;  ///< tasks that handed their tables over

  ATTN_FN float* delta_row(int b, int h) const {
    return delta + (static_cast<std::int64_t>(b) * base.heads + h) * max_queries;
  }
  ATTN_FN float* dq_row(int b, int h) const {
    const std::int64_t first = base.packing.q ? base.packing.q[b] * dq_stride : b * dq_batch;
    return dq_sum + first + h * dq_head;
  }
};

/// One block of keys of one kv head.
struct BackwardTask {
  int index = 0;
  int batch = 0;
  int kv_head = 0;
  int block = 0;
};

}  // namespace attn::cpu
