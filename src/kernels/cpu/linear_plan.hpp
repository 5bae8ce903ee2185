/// LinearPlan: linear attention laid flat for the kernels of one instruction set.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/core/macros.hpp"
#include "attn/kernels/stage.hpp"
#include "attn/pool/linear.hpp"
#include "kernels/cpu/plan.hpp"

namespace attn::cpu {

struct LinearPlan {
  RawView q, k, v, decay, beta, out;  ///< beta has one channel
  RawView past, state;                ///< float; data may be null
  int steps = 0;
  int channels = 0;
  int values = 0;
  int group = 1;
  pool::UpdateRule rule = pool::UpdateRule::linear;
  float scale = 1.0f;
};

/// Value channels of the state never meet, so a task holds this many of them: 128 channels of
/// state are then 32 KB, what a first-level cache holds.
inline constexpr int kLinearColumns = 64;

/// Floats of a vector of channels, whole cache lines, with room to run over its end.
ATTN_FN std::size_t linear_row(const LinearPlan& plan) {
  return static_cast<std::size_t>(plan.channels / kTilePad + 2) * kTilePad;
}

/// Scratch of one task: k, its decay and the group's queries; v and the group's outputs; the
/// state.
ATTN_FN std::size_t linear_bytes(const LinearPlan& plan) {
  const auto group = static_cast<std::size_t>(plan.group);
  return sizeof(float) * (linear_row(plan) * (group + 2) + kLinearColumns * (group + 1) +
                          kLinearColumns * static_cast<std::size_t>(plan.channels));
}

/// All steps of one kv head for the value channels [column, column + kLinearColumns).
struct LinearTable {
  void (*block)(const LinearPlan& plan, int batch, int kv_head, int column, std::byte* scratch);
};

}  // namespace attn::cpu
