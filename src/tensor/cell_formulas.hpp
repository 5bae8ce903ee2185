/// The formulas of GRU and LSTM cells with their gradients, one unit at a time: for SIMD lanes,
/// doubles and GPU threads. Gates are named as cpu::CellForward's comment has them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"

namespace attn::cell {

// Lanes have their own. The GPU's threads round as lanes do; doubles are for checks.
ATTN_FN float multiply_add(float a, float b, float c) {
  return std::fma(a, b, c);
}
ATTN_FN double multiply_add(double a, double b, double c) {
  return a * b + c;
}

/// What a step of a GRU keeps, and its state. The biases are in a and memory.
template <class V>
struct Gru {
  V reset;
  V update;
  V fresh;
  V memory;
  V after;
};
template <class V>
ATTN_FN Gru<V> gru(V a_reset, V a_update, V a_fresh, V memory, V before) {
  const V reset = sigmoid(a_reset);
  const V update = sigmoid(a_update);
  const V fresh = tanh(multiply_add(reset, memory, a_fresh));
  return {reset, update, fresh, memory, multiply_add(update, before - fresh, fresh)};
}

/// Gradients of a, of memory, and what reaches `before` without passing the gates.
template <class V>
struct GruSlopes {
  V reset;
  V update;
  V fresh;
  V memory;
  V before;
};
template <class V>
ATTN_FN GruSlopes<V> gru_slopes(V reset, V update, V fresh, V memory, V before, V d_after) {
  const V one(1.0f);
  const V d_fresh = d_after * (one - update) * (one - fresh * fresh);
  const V d_update = d_after * (before - fresh) * update * (one - update);
  const V d_reset = d_fresh * memory * reset * (one - reset);
  return {d_reset, d_update, d_fresh, d_fresh * reset, d_after * update};
}

/// What a step of an LSTM keeps, its cell and its state.
template <class V>
struct Lstm {
  V input;
  V forget;
  V fresh;
  V output;
  V cell;
  V after;
};
template <class V>
ATTN_FN Lstm<V> lstm(V a_input, V a_forget, V a_fresh, V a_output, V cell_before) {
  const V input = sigmoid(a_input);
  const V forget = sigmoid(a_forget);
  const V fresh = tanh(a_fresh);
  const V output = sigmoid(a_output);
  const V cell = multiply_add(forget, cell_before, input * fresh);
  return {input, forget, fresh, output, cell, output * tanh(cell)};
}

/// Gradients of a, and of the cell before.
template <class V>
struct LstmSlopes {
  V input;
  V forget;
  V fresh;
  V output;
  V cell;
};
template <class V>
ATTN_FN LstmSlopes<V> lstm_slopes(const Lstm<V>& step, V cell_before, V d_after,
                                  V d_cell_after) {
  const V one(1.0f);
  const V shown = tanh(step.cell);
  const V d_cell = multiply_add(d_after * step.output, one - shown * shown, d_cell_after);
  return {d_cell * step.fresh * step.input * (one - step.input),
          d_cell * cell_before * step.forget * (one - step.forget),
          d_cell * step.input * (one - step.fresh * step.fresh),
          d_after * shown * step.output * (one - step.output), d_cell * step.forget};
}

}  // namespace attn::cell
