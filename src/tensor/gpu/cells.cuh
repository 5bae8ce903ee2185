/// One unit of one row of a recurrent layer, for the kernels that step cells.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "tensor/cell_formulas.hpp"
#include "tensor/gpu/steps.hpp"

namespace attn::gpu {

struct Unit {
  std::int64_t row;
  std::int64_t c;
  std::int64_t hidden;

  __device__ std::int64_t state() const { return row * hidden + c; }
  /// Of a gate, in rows that are `stride` apart.
  __device__ std::int64_t gate(int which, std::int64_t stride) const {
    return row * stride + which * hidden + c;
  }
  __device__ bool takes_part(const CellRows& rows) const {
    return rows.lengths == nullptr || rows.time < rows.lengths[row];
  }
};

/// Gates that are kept of a step: those of an LSTM, or a GRU's three and its memory.
inline constexpr int kKept = 4;

/// `more[gate]` joins the product of the input.
template <class T>
__device__ void gru_unit(const CellStep<T>& step, const Unit& unit, const T (&more)[3]) {
  const auto a = [&](int g) {
    return step.a[unit.gate(g, step.a_stride)] + more[g] + step.bias[g * unit.hidden + unit.c];
  };
  const auto u = [&](int g) { return step.u[unit.gate(g, step.u_stride)]; };
  const T memory = u(2) + step.bias[3 * unit.hidden + unit.c];
  const cell::Gru<T> now =
      cell::gru<T>(a(0) + u(0), a(1) + u(1), a(2), memory, step.before[unit.state()]);
  const std::int64_t stride = kKept * unit.hidden;
  step.gates[unit.gate(0, stride)] = now.reset;
  step.gates[unit.gate(1, stride)] = now.update;
  step.gates[unit.gate(2, stride)] = now.fresh;
  step.gates[unit.gate(3, stride)] = now.memory;
  step.after[unit.state()] = now.after;
  if (step.out != nullptr) step.out[unit.state()] = now.after;
}

template <class T>
__device__ T arriving(const CellStepBackward<T>& step, const Unit& unit) {
  const T later = step.d_state[unit.state()];
  return step.d_out == nullptr ? later : later + step.d_out[unit.state()];
}

/// Writes the slopes of a and u, and tells those of a.
template <class T>
__device__ cell::GruSlopes<T> gru_unit_back(const CellStepBackward<T>& step, const Unit& unit) {
  cell::GruSlopes<T> d{};
  if (unit.takes_part(step.rows)) {
    const auto gate = [&](int g) { return step.gates[unit.gate(g, kKept * unit.hidden)]; };
    d = cell::gru_slopes<T>(gate(0), gate(1), gate(2), gate(3), step.before[unit.state()],
                            arriving(step, unit));
    step.d_state[unit.state()] = d.before;
  }
  step.d_a[unit.gate(0, step.d_a_stride)] = step.d_u[unit.gate(0, step.d_u_stride)] = d.reset;
  step.d_a[unit.gate(1, step.d_a_stride)] = step.d_u[unit.gate(1, step.d_u_stride)] = d.update;
  step.d_a[unit.gate(2, step.d_a_stride)] = d.fresh;
  step.d_u[unit.gate(2, step.d_u_stride)] = d.memory;
  return d;
}

}  // namespace attn::gpu
