/// GRU and LSTM cells of one step, written once for vectors of floats and for doubles. `N`
/// names the numbers: N::T in memory, N::V in registers, N::kWidth of them at a time.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <concepts>
#include <cstdint>

#include "attn/core/macros.hpp"
#include "tensor/cell_formulas.hpp"
#include "tensor/cpu/cells_table.hpp"

namespace attn::cpu {

/// The doubles' counterpart of the lanes' function.
template <std::floating_point T>
ATTN_FN T multiply_add(T a, T b, T c) {
  return a * b + c;
}

/// The kKeptGates gates of one vector of units.
template <class N>
struct Gates {
  typename N::V part[kKeptGates];

  ATTN_FN static Gates load(const typename N::T* from, std::int64_t hidden, std::int64_t c) {
    Gates gates;
#pragma GCC unroll 4
    for (int g = 0; g < kKeptGates; ++g)
      gates.part[g] = N::load(from + g * hidden + c, hidden - c);
    return gates;
  }
  ATTN_FN void store(typename N::T* to, std::int64_t hidden, std::int64_t c) const {
#pragma GCC unroll 4
    for (int g = 0; g < kKeptGates; ++g) N::store(part[g], to + g * hidden + c, hidden - c);
  }
};

template <class N>
ATTN_FN void copy_row(const typename N::T* from, typename N::T* to, std::int64_t count) {
  for (std::int64_t c = 0; c < count; c += N::kWidth)
    N::store(N::load(from + c, count - c), to + c, count - c);
}
template <class N>
ATTN_FN void clear_row(typename N::T* to, std::int64_t count) {
  for (std::int64_t c = 0; c < count; c += N::kWidth)
    N::store(typename N::V(typename N::T(0)), to + c, count - c);
}

/// A row that takes no part keeps its state and puts out 0. Its gates are never read again.
template <class N>
ATTN_FN void rest_row(const CellForward<typename N::T>& step, std::int64_t row) {
  const std::int64_t hidden = step.hidden;
  const std::int64_t at = row * hidden;
  copy_row<N>(step.before + at, step.after + at, hidden);
  if (step.cell_after != nullptr)
    copy_row<N>(step.cell_before + at, step.cell_after + at, hidden);
  if (step.out != nullptr) clear_row<N>(step.out + row * step.out_stride, hidden);
}

template <class N>
ATTN_FN void gru_forward(const CellForward<typename N::T>& step) {
  using V = typename N::V;
  using T = typename N::T;
  const std::int64_t hidden = step.hidden;
  for (std::int64_t row = 0; row < step.rows.count; ++row) {
    if (!step.rows.takes_part(row)) {
      rest_row<N>(step, row);
      continue;
    }
    T* gates = step.gates + row * kKeptGates * hidden;
    const T* recurrent = step.recurrent + row * 3 * hidden;
    T* out = step.out == nullptr ? nullptr : step.out + row * step.out_stride;
    for (std::int64_t c = 0; c < hidden; c += N::kWidth) {
      const std::int64_t left = hidden - c;
      const auto sum = [&](int gate) ATTN_LAMBDA {
        return N::load(gates + gate * hidden + c, left) +
               N::load(step.bias + gate * hidden + c, left);
      };
      const auto again = [&](int gate) ATTN_LAMBDA {
        return N::load(recurrent + gate * hidden + c, left);
      };
      const V memory = again(2) + N::load(step.bias + 3 * hidden + c, left);
      const V before = N::load(step.before + row * hidden + c, left);
      const cell::Gru<V> now =
          cell::gru<V>(sum(0) + again(0), sum(1) + again(1), sum(2), memory, before);
      Gates<N>{{now.reset, now.update, now.fresh, now.memory}}.store(gates, hidden, c);
      N::store(now.after, step.after + row * hidden + c, left);
      if (out != nullptr) N::store(now.after, out + c, left);
    }
  }
}

template <class N>
ATTN_FN void lstm_forward(const CellForward<typename N::T>& step) {
  using V = typename N::V;
  using T = typename N::T;
  const std::int64_t hidden = step.hidden;
  for (std::int64_t row = 0; row < step.rows.count; ++row) {
    if (!step.rows.takes_part(row)) {
      rest_row<N>(step, row);
      continue;
    }
    T* gates = step.gates + row * kKeptGates * hidden;
    T* out = step.out == nullptr ? nullptr : step.out + row * step.out_stride;
    for (std::int64_t c = 0; c < hidden; c += N::kWidth) {
      const std::int64_t left = hidden - c;
      const std::int64_t at = row * hidden + c;
      const auto a = Gates<N>::load(gates, hidden, c);
      const auto bias = Gates<N>::load(step.bias, hidden, c);
      const cell::Lstm<V> now = cell::lstm<V>(
          a.part[0] + bias.part[0], a.part[1] + bias.part[1], a.part[2] + bias.part[2],
          a.part[3] + bias.part[3], N::load(step.cell_before + at, left));
      Gates<N>{{now.input, now.forget, now.fresh, now.output}}.store(gates, hidden, c);
      N::store(now.cell, step.cell_after + at, left);
      N::store(now.after, step.after + at, left);
      if (out != nullptr) N::store(now.after, out + c, left);
    }
  }
}

/// What arrives at `after` of one vector of units: from later steps and from the output.
template <class N>
ATTN_FN typename N::V arriving(const CellBackward<typename N::T>& step, std::int64_t row,
                               std::int64_t c) {
  const std::int64_t left = step.hidden - c;
  const auto later = N::load(step.d_state + row * step.hidden + c, left);
  if (step.d_out == nullptr) return later;
  return later + N::load(step.d_out + row * step.d_out_stride + c, left);
}

template <class N>
ATTN_FN void gru_backward(const CellBackward<typename N::T>& step) {
  using V = typename N::V;
  using T = typename N::T;
  const std::int64_t hidden = step.hidden;
  for (std::int64_t row = 0; row < step.rows.count; ++row) {
    T* d_gates = step.d_gates + row * step.d_gates_stride;
    const std::int64_t written = step.rows.takes_part(row) ? kKeptGates * hidden : 0;
    clear_row<N>(d_gates + written, step.d_gates_stride - written);
    if (written == 0) continue;
    const T* gates = step.gates + row * kKeptGates * hidden;
    for (std::int64_t c = 0; c < hidden; c += N::kWidth) {
      const std::int64_t at = row * hidden + c;
      const auto [reset, update, fresh, memory] = Gates<N>::load(gates, hidden, c).part;
      const V before = N::load(step.before + at, hidden - c);
      const cell::GruSlopes<V> d =
          cell::gru_slopes<V>(reset, update, fresh, memory, before, arriving<N>(step, row, c));
      Gates<N>{{d.reset, d.update, d.fresh, d.memory}}.store(d_gates, hidden, c);
      N::store(d.before, step.d_state + at, hidden - c);
    }
  }
}

template <class N>
ATTN_FN void lstm_backward(const CellBackward<typename N::T>& step) {
  using V = typename N::V;
  using T = typename N::T;
  const std::int64_t hidden = step.hidden;
  for (std::int64_t row = 0; row < step.rows.count; ++row) {
    T* d_gates = step.d_gates + row * step.d_gates_stride;
    const std::int64_t written = step.rows.takes_part(row) ? kKeptGates * hidden : 0;
    clear_row<N>(d_gates + written, step.d_gates_stride - written);
    if (written == 0) continue;
    const T* gates = step.gates + row * kKeptGates * hidden;
    for (std::int64_t c = 0; c < hidden; c += N::kWidth) {
      const std::int64_t left = hidden - c;
      const std::int64_t at = row * hidden + c;
      const auto [input, forget, fresh, output] = Gates<N>::load(gates, hidden, c).part;
      const V cell_after = N::load(step.cell_after + at, left);
      const cell::LstmSlopes<V> d =
          cell::lstm_slopes<V>({input, forget, fresh, output, cell_after, cell_after},
                               N::load(step.cell_before + at, left), arriving<N>(step, row, c),
                               N::load(step.d_cell + at, left));
      Gates<N>{{d.input, d.forget, d.fresh, d.output}}.store(d_gates, hidden, c);
      N::store(d.cell, step.d_cell + at, left);
    }
    clear_row<N>(step.d_state + row * hidden, hidden);
  }
}

}  // namespace attn::cpu
