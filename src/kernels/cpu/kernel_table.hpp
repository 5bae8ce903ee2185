/// The kernels of one instruction set, as the dispatcher sees them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/plan.hpp"

namespace attn::cpu {

/// Queries [q_begin, q_end) of all heads that share one kv head of one sequence.
struct ForwardRun {
  int batch = 0;
  int kv_head = 0;
  int q_begin = 0;
  int q_end = 0;
};

/// Receives tiles of whole rows: scores after `modifiers` stages, or weights if that is -1.
struct RowVisitor {
  int modifiers = -1;
  bool masked = true;
  void* context = nullptr;
  void (*visit)(void* context, const TilePlace& at, const float* rows, std::int64_t stride);
};

struct BackwardPlan;
struct BackwardTask;
struct DecodePiece;

struct KernelTable {
  std::size_t (*forward_bytes)(const Plan& plan, const ForwardRun& run);
  void (*forward)(const Plan& plan, const ForwardRun& run, std::byte* scratch);
  std::size_t (*backward_bytes)(const BackwardPlan& plan);
  void (*backward_deltas)(const BackwardPlan& plan, int batch, int head, std::byte* scratch);
  void (*backward)(const BackwardPlan& plan, const BackwardTask& task, std::byte* scratch);
  void (*backward_queries)(const BackwardPlan& plan, int batch, int head, std::byte* scratch,
                           float* d_weights);
  /// The plan must not stream, so that whole rows have room.
  void (*inspect)(const Plan& plan, const ForwardRun& run, const RowVisitor& visitor,
                  std::byte* scratch);
  std::size_t (*decode_bytes)(const Plan& plan, int batch);
  /// `state` null: the piece is the only one, and its result is written.
  void (*decode)(const Plan& plan, const DecodePiece& piece, float* state, std::byte* scratch);
  void (*decode_merge)(const Plan& plan, const DecodePiece& last, float* states, int count,
                       std::byte* scratch);
};

}  // namespace attn::cpu
