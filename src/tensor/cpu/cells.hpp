/// GRU and LSTM cells of one step, written once for vectors of floats and for doubles. `N`
/// names the numbers: N::T in memory, N::V in registers, N::kWidth of them at a time.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <concepts>
#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"
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
      const V reset = sigmoid(sum(0) + again(0));
      const V update = sigmoid(sum(1) + again(1));
      const V memory = again(2) + N::load(step.bias + 3 * hidden + c, left);
      const V fresh = tanh(multiply_add(reset, memory, sum(2)));
      const V before = N::load(step.before + row * hidden + c, left);
      const V after = multiply_add(update, before - fresh, fresh);
      Gates<N>{{reset, update, fresh, memory}}.store(gates, hidden, c);
      N::store(after, step.after + row * hidden + c, left);
      if (out != nullptr) N::store(after, out + c, left);
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
      const V input = sigmoid(a.part[0] + bias.part[0]);
      const V forget = sigmoid(a.part[1] + bias.part[1]);
      const V fresh = tanh(a.part[2] + bias.part[2]);
      const V output = sigmoid(a.part[3] + bias.part[3]);
      const V cell = multiply_add(forget, N::load(step.cell_before + at, left), input * fresh);
      const V after = output * tanh(cell);
      Gates<N>{{input, forget, fresh, output}}.store(gates, hidden, c);
      N::store(cell, step.cell_after + at, left);
      N::store(after, step.after + at, left);
      if (out != nullptr) N::store(after, out + c, left);
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
  const V one(T(1));
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
      const V d_after = arriving<N>(step, row, c);
      const V d_fresh = d_after * (one - update) * (one - fresh * fresh);
      const V d_update = d_after * (before - fresh) * update * (one - update);
      const V d_reset = d_fresh * memory * reset * (one - reset);
      Gates<N>{{d_reset, d_update, d_fresh, d_fresh * reset}}.store(d_gates, hidden, c);
      N::store(d_after * update, step.d_state + at, hidden - c);
    }
  }
}

template <class N>
ATTN_FN void lstm_backward(const CellBackward<typename N::T>& step) {
  using V = typename N::V;
  using T = typename N::T;
  const std::int64_t hidden = step.hidden;
  const V one(T(1));
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
      const V d_after = arriving<N>(step, row, c);
      const V shown = tanh(N::load(step.cell_after + at, left));
      const V d_cell =
          multiply_add(d_after * output, one - shown * shown, N::load(step.d_cell + at, left));
      const V d_input = d_cell * fresh * input * (one - input);
      const V d_forget =
          d_cell * N::load(step.cell_before + at, left) * forget * (one - forget);
      const V d_fresh = d_cell * input * (one - fresh * fresh);
      const V d_output = d_after * shown * output * (one - output);
      Gates<N>{{d_input, d_forget, d_fresh, d_output}}.store(d_gates, hidden, c);
      N::store(d_cell * forget, step.d_cell + at, left);
    }
    clear_row<N>(step.d_state + row * hidden, hidden);
  }
}

}  // namespace attn::cpu
