/// Steps of GRU and LSTM layers on the GPU: one launch a step beside its product. f32 or f64,
/// packed but for the rows that have a stride.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

namespace attn::gpu {

/// Rows of one step; a row takes part while time < its length (null: always).
struct CellRows {
  std::int64_t count;
  std::int64_t hidden;
  std::int64_t time;
  const std::int64_t* lengths;
};

/// A row that takes no part keeps its state and puts out 0.
template <class T>
struct CellStep {
  CellRows rows;
  const T* a;  ///< [rows, gates * hidden]: the product of the input
  std::int64_t a_stride;
  const T* u;  ///< like a: the product of the state
  std::int64_t u_stride;
  const T* bias;    ///< [4 * hidden], as op::kept_bias has it
  const T* before;  ///< [rows, hidden]
  const T* cell_before;
  T* gates;  ///< [rows, 4 * hidden]
  T* after;
  T* cell_after;
  T* out;  ///< null: not wanted
};
template <class T>
void gru_step(const CellStep<T>& step);
template <class T>
void lstm_step(const CellStep<T>& step);

/// d_state comes with the gradient of `after` and leaves with what reaches `before` without
/// passing the gates. d_a and d_u like a and u, the same for an LSTM; 0 in rows that take no
/// part.
template <class T>
struct CellStepBackward {
  CellRows rows;
  const T* gates;
  const T* before;
  const T* cell_before;
  const T* cell_after;
  const T* d_out;  ///< null: none
  T* d_state;
  T* d_cell;
  T* d_a;
  std::int64_t d_a_stride;
  T* d_u;
  std::int64_t d_u_stride;
};
template <class T>
void gru_step_backward(const CellStepBackward<T>& step);
template <class T>
void lstm_step_backward(const CellStepBackward<T>& step);

}  // namespace attn::gpu
