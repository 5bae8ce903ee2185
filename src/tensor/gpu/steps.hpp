/// Steps of GRU and LSTM layers, and of a decoder's attention, on the GPU: one launch a step
/// beside its product. f32 or f64, packed but for the rows that have a stride.

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

// A step of a decoder's attention: scores, softmax, what the weights pool, and what the same
// row does with it, in one launch each way. What is pooled are values that have passed the
// weight of whoever reads the context, all at once before the first step: W sum of a_j v_j =
// sum of a_j (W v_j), and no step waits for a product of its context.

/// The same at each step, packed.
template <class T>
struct AttentionSource {
  std::int64_t rows;
  std::int64_t keys_count;
  std::int64_t key_dim;
  std::int64_t columns;         ///< of what is pooled
  const std::int64_t* lengths;  ///< [rows]; null: all keys count
  const T* keys;                ///< [rows, keys_count, key_dim]
  const T* pooled;              ///< [rows, keys_count, columns]
  const T* score;               ///< w [key_dim] of w . tanh(q + k); null: q . k
};

template <class T>
struct AttentionStep {
  AttentionSource<T> at;
  const T* query;  ///< [rows, key_dim]
  std::int64_t query_stride;
  T* weights;  ///< [rows, keys_count]
  std::int64_t weights_stride;
};

/// A GRU's step whose gates get the pooled row on top of a; columns are 3 * hidden.
template <class T>
void attend_and_gru(const AttentionStep<T>& attention, const CellStep<T>& cell);

/// out [rows, columns] = tanh(pooled + more).
template <class T>
struct JoinStep {
  const T* more;
  std::int64_t more_stride;
  T* out;
};
template <class T>
void attend_and_join(const AttentionStep<T>& attention, const JoinStep<T>& join);

/// Whether what was there stays.
enum class Arrive { replace, add };

template <class T>
struct AttentionStepBackward {
  AttentionSource<T> at;
  const T* query;
  std::int64_t query_stride;
  const T* weights;
  std::int64_t weights_stride;  ///< of d_weights and d_scores, too
  const T* d_weights;           ///< what arrives at the weights themselves; null: nothing
  T* d_scores;                  ///< [rows, keys_count]
  T* d_query;                   ///< [rows, key_dim]
  std::int64_t d_query_stride;
  Arrive arrive;
};

/// The backward of both.
template <class T>
void attend_and_gru_backward(const AttentionStepBackward<T>& attention,
                             const CellStepBackward<T>& cell);

template <class T>
struct JoinStepBackward {
  const T* out;
  const T* d_out;   ///< [rows, columns] from outside; null: none
  const T* d_more;  ///< likewise from the step after
  T* d_sum;         ///< of what tanh was taken of
  std::int64_t d_sum_stride;
};
template <class T>
void attend_and_join_backward(const AttentionStepBackward<T>& attention,
                              const JoinStepBackward<T>& join);

/// The gradients of the keys and, for each of them, of w, over all steps of an additive score.
template <class T>
struct AttentionKeysBackward {
  AttentionSource<T> at;
  std::int64_t steps;
  const T* queries;  ///< [steps, rows, key_dim]
  std::int64_t query_stride;
  const T* d_scores;  ///< [rows, steps, keys_count]
  T* d_keys;
  T* d_score;  ///< [rows, keys_count, key_dim]; their sum is w's
};
template <class T>
void attention_keys_backward(const AttentionKeysBackward<T>& back);

}  // namespace attn::gpu
