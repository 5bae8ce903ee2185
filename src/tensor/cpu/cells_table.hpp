/// What the loops over time call for each step, as tables of functions: one table for each
/// instruction set in fp32, one in fp64. Nothing here allocates.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "kernels/cpu/isa_table.hpp"

namespace attn::cpu {

/// Rows of one step. A row takes part while time < its length; then its state stays as it is.
struct StepRows {
  std::int64_t count = 0;
  std::int64_t time = 0;
  const std::int64_t* lengths = nullptr;  ///< one a row; null: every row takes part

  ATTN_FN bool takes_part(std::int64_t row) const {
    return lengths == nullptr || time < lengths[row];
  }
};

/// Columns of the gates that a step keeps, in units of `hidden`. GRU: reset, update, new and
/// the recurrent part of new, W_hn h + b_hn. LSTM: input, forget, cell, output.
inline constexpr int kKeptGates = 4;

/// One step of a cell. GRU: r = sigmoid(a_r + u_r), z = sigmoid(a_z + u_z), m = u_n,
/// n = tanh(a_n + r m), after = (1 - z) n + z before. LSTM: i, f, o = sigmoid, g = tanh,
/// cell_after = f cell_before + i g, after = o tanh(cell_after).
template <class T>
struct CellForward {
  StepRows rows;
  std::int64_t hidden = 0;
  const T* bias = nullptr;       ///< [4 * hidden], like the gates
  T* gates = nullptr;            ///< [rows, 4 * hidden]: a (LSTM: a + u), then what is kept
  const T* recurrent = nullptr;  ///< GRU: u [rows, 3 * hidden]
  const T* before = nullptr;     ///< [rows, hidden], like all that follow
  T* after = nullptr;
  const T* cell_before = nullptr;  ///< LSTM
  T* cell_after = nullptr;
  T* out = nullptr;  ///< `after`, 0 for rows that take no part; null: not wanted
  std::int64_t out_stride = 0;
};

/// The way back. `d_state` comes with the gradient of `after` and leaves with what reaches
/// `before` without passing the gates; `d_gates` are those of a, and of u_n in the fourth.
template <class T>
struct CellBackward {
  StepRows rows;
  std::int64_t hidden = 0;
  const T* gates = nullptr;
  const T* before = nullptr;
  const T* cell_before = nullptr;
  const T* cell_after = nullptr;
  const T* d_out = nullptr;  ///< added to d_state in rows that take part; null: none
  std::int64_t d_out_stride = 0;
  T* d_state = nullptr;
  T* d_cell = nullptr;   ///< LSTM
  T* d_gates = nullptr;  ///< rows d_gates_stride apart; what lies between is cleared
  std::int64_t d_gates_stride = 0;
};

/// One query a row over keys of its own: s_j = q . k_j, or w . tanh(q + k_j) where `vector`
/// holds w; weights = softmax over the first `length` keys, context = sum of weights_j v_j. A
/// row without keys gets zeros. Keys past the length are not read, nor are values of weight 0.
template <class T>
struct AttentionForward {
  std::int64_t rows = 0;
  std::int64_t keys_count = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  const std::int64_t* lengths = nullptr;  ///< one a row; null: all keys
  const T* vector = nullptr;              ///< [key_dim]; null: dot product
  const T* query = nullptr;               ///< [rows, key_dim]
  const T* keys = nullptr;                ///< [rows, keys_count, key_dim]
  const T* values = nullptr;              ///< [rows, keys_count, value_dim]
  T* weights = nullptr;                   ///< [rows, keys_count], rows weights_stride apart
  std::int64_t weights_stride = 0;
  T* context = nullptr;  ///< [rows, value_dim]

  ATTN_FN std::int64_t length(std::int64_t row) const {
    return lengths == nullptr ? keys_count : lengths[row];
  }
};

template <class T>
struct AttentionBackward {
  AttentionForward<T> forward;   ///< but for its results
  const T* weights = nullptr;    ///< as forward left them, rows weights_stride apart
  const T* d_context = nullptr;  ///< [rows, value_dim]
  const T* d_weights = nullptr;  ///< like weights; null: none
  T* d_scores = nullptr;         ///< like weights, written
  T* d_query = nullptr;          ///< [rows, key_dim], written
  T* d_keys = nullptr;           ///< like keys, added to; additive only
  T* d_vector = nullptr;         ///< [rows, key_dim], added to; additive only
};

/// The way back through out = tanh(x): d_x = (d_out + d_more) (1 - out^2).
template <class T>
struct TanhBackward {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const T* out = nullptr;    ///< [rows, columns]
  const T* d_out = nullptr;  ///< rows d_out_stride apart; null: none
  std::int64_t d_out_stride = 0;
  const T* d_more = nullptr;  ///< [rows, columns]; null: none
  T* d_x = nullptr;           ///< [rows, columns]
};

template <class T>
struct CellTable {
  void (*gru_forward)(const CellForward<T>& step);
  void (*gru_backward)(const CellBackward<T>& step);
  void (*lstm_forward)(const CellForward<T>& step);
  void (*lstm_backward)(const CellBackward<T>& step);
  void (*attention_forward)(const AttentionForward<T>& step);
  void (*attention_backward)(const AttentionBackward<T>& step);
  void (*tanh_forward)(T* x, std::int64_t count);  ///< x = tanh(x)
  void (*tanh_backward)(const TanhBackward<T>& step);
};

/// The table of this machine.
template <class T>
const CellTable<T>& cell_table() {
  return best_table<CellTable<T>>();
}
template <>
const CellTable<double>& cell_table<double>();

}  // namespace attn::cpu
