/// One step of GRU and LSTM cells and of the attention of decoders, one query a row, written
/// once for vectors of floats and for doubles. `N` names the numbers: N::T in memory, N::V in
/// registers, N::kWidth of them at a time.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <concepts>
#include <cstdint>
#include <limits>

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

template <class N>
ATTN_FN typename N::T dot_row(const typename N::T* a, const typename N::T* b,
                              std::int64_t count) {
  typename N::V sum(typename N::T(0));
  for (std::int64_t c = 0; c < count; c += N::kWidth)
    sum = multiply_add(N::load(a + c, count - c), N::load(b + c, count - c), sum);
  return N::sum(sum);
}

/// sum over c of w_c tanh(q_c + k_c).
template <class N>
ATTN_FN typename N::T additive_row(const typename N::T* w, const typename N::T* q,
                                   const typename N::T* k, std::int64_t count) {
  typename N::V sum(typename N::T(0));
  for (std::int64_t c = 0; c < count; c += N::kWidth) {
    const auto left = count - c;
    sum = multiply_add(N::load(w + c, left), tanh(N::load(q + c, left) + N::load(k + c, left)),
                       sum);
  }
  return N::sum(sum);
}

/// Scores become weights. All -inf: zeros. A NaN or +inf makes the whole row NaN.
template <class N>
ATTN_FN void softmax_row(typename N::T* row, std::int64_t count) {
  using V = typename N::V;
  using T = typename N::T;
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  V tops(kLowest);
  for (std::int64_t j = 0; j < count; j += N::kWidth)
    tops = max(tops, N::load_or(row + j, count - j, kLowest));
  const T top = N::largest(tops);
  if (top == kLowest) {
    clear_row<N>(row, count);
    return;
  }
  V sum(T(0));
  for (std::int64_t j = 0; j < count; j += N::kWidth) {
    const V weight = exp_below(N::load_or(row + j, count - j, kLowest), V(top));
    N::store(weight, row + j, count - j);
    sum = sum + weight;
  }
  const V scale(T(1) / N::sum(sum));
  for (std::int64_t j = 0; j < count; j += N::kWidth)
    N::store(N::load(row + j, count - j) * scale, row + j, count - j);
}

/// out = sum over j of weights_j rows_j; rows of weight 0 are not read.
template <class N>
ATTN_FN void pool_rows(const typename N::T* weights, std::int64_t count,
                       const typename N::T* rows, std::int64_t columns, typename N::T* out) {
  using V = typename N::V;
  using T = typename N::T;
  constexpr int kVectors = 4;
  constexpr std::int64_t kBlock = kVectors * N::kWidth;
  std::int64_t c = 0;
  for (; c + kBlock <= columns; c += kBlock) {
    V sum[kVectors] = {V(T(0)), V(T(0)), V(T(0)), V(T(0))};
    for (std::int64_t j = 0; j < count; ++j) {
      if (weights[j] == T(0)) continue;
      const V weight(weights[j]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        sum[v] = multiply_add(
            weight, N::load(rows + j * columns + c + v * N::kWidth, N::kWidth), sum[v]);
    }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) N::store(sum[v], out + c + v * N::kWidth, N::kWidth);
  }
  for (; c < columns; c += N::kWidth) {
    V sum(T(0));
    for (std::int64_t j = 0; j < count; ++j)
      if (weights[j] != T(0))
        sum = multiply_add(V(weights[j]), N::load(rows + j * columns + c, columns - c), sum);
    N::store(sum, out + c, columns - c);
  }
}

template <class N>
ATTN_FN void attention_forward(const AttentionForward<typename N::T>& step) {
  using T = typename N::T;
  for (std::int64_t row = 0; row < step.rows; ++row) {
    const std::int64_t length = step.length(row);
    const T* query = step.query + row * step.key_dim;
    const T* keys = step.keys + row * step.keys_count * step.key_dim;
    const T* values = step.values + row * step.keys_count * step.value_dim;
    T* weights = step.weights + row * step.weights_stride;
    for (std::int64_t j = 0; j < length; ++j) {
      const T* key = keys + j * step.key_dim;
      weights[j] = step.vector == nullptr
                       ? dot_row<N>(query, key, step.key_dim)
                       : additive_row<N>(step.vector, query, key, step.key_dim);
    }
    softmax_row<N>(weights, length);
    clear_row<N>(weights + length, step.keys_count - length);
    pool_rows<N>(weights, length, values, step.value_dim, step.context + row * step.value_dim);
  }
}

/// ds_j = w_j (dw_j - sum of w dw) with dw_j = d_context . v_j, and what arrives at w_j itself.
template <class N>
ATTN_FN void score_gradients(const AttentionBackward<typename N::T>& step, std::int64_t row,
                             std::int64_t length) {
  using T = typename N::T;
  const AttentionForward<T>& forward = step.forward;
  const std::int64_t at = row * forward.weights_stride;
  const T* weights = step.weights + at;
  const T* values = forward.values + row * forward.keys_count * forward.value_dim;
  const T* d_context = step.d_context + row * forward.value_dim;
  T* d_scores = step.d_scores + at;
  T total = T(0);
  for (std::int64_t j = 0; j < length; ++j) {
    d_scores[j] = T(0);
    // Where the weight is 0 nothing depends on the value, which may be NaN.
    if (weights[j] == T(0)) continue;
    d_scores[j] = dot_row<N>(d_context, values + j * forward.value_dim, forward.value_dim);
    if (step.d_weights != nullptr) d_scores[j] += step.d_weights[at + j];
    total += weights[j] * d_scores[j];
  }
  for (std::int64_t j = 0; j < length; ++j)
    if (weights[j] != T(0)) d_scores[j] = weights[j] * (d_scores[j] - total);
  clear_row<N>(d_scores + length, forward.keys_count - length);
}

/// With t = tanh(q + k_j): dq = w sum of ds_j (1 - t^2), dk_j += w ds_j (1 - t^2), and
/// dw += sum of ds_j t.
template <class N>
ATTN_FN void additive_gradients(const AttentionBackward<typename N::T>& step, std::int64_t row,
                                std::int64_t length) {
  using V = typename N::V;
  using T = typename N::T;
  const AttentionForward<T>& forward = step.forward;
  const std::int64_t dim = forward.key_dim;
  const T* d_scores = step.d_scores + row * forward.weights_stride;
  const T* keys = forward.keys + row * forward.keys_count * dim;
  T* d_keys = step.d_keys + row * forward.keys_count * dim;
  const V one(T(1));
  for (std::int64_t c = 0; c < dim; c += N::kWidth) {
    const std::int64_t left = dim - c;
    const V query = N::load(forward.query + row * dim + c, left);
    const V vector = N::load(forward.vector + c, left);
    V d_query(T(0));
    V d_vector = N::load(step.d_vector + row * dim + c, left);
    for (std::int64_t j = 0; j < length; ++j) {
      if (d_scores[j] == T(0)) continue;
      const V d_score(d_scores[j]);
      const V t = tanh(query + N::load(keys + j * dim + c, left));
      const V slope = d_score * (one - t * t);
      d_query = d_query + slope;
      d_vector = multiply_add(d_score, t, d_vector);
      T* d_key = d_keys + j * dim + c;
      N::store(multiply_add(vector, slope, N::load(d_key, left)), d_key, left);
    }
    N::store(vector * d_query, step.d_query + row * dim + c, left);
    N::store(d_vector, step.d_vector + row * dim + c, left);
  }
}

template <class N>
ATTN_FN void attention_backward(const AttentionBackward<typename N::T>& step) {
  const AttentionForward<typename N::T>& forward = step.forward;
  const std::int64_t dim = forward.key_dim;
  for (std::int64_t row = 0; row < forward.rows; ++row) {
    const std::int64_t length = forward.length(row);
    score_gradients<N>(step, row, length);
    if (forward.vector != nullptr) {
      additive_gradients<N>(step, row, length);
    } else {
      pool_rows<N>(step.d_scores + row * forward.weights_stride, length,
                   forward.keys + row * forward.keys_count * dim, dim,
                   step.d_query + row * dim);
    }
  }
}

template <class N>
ATTN_FN void tanh_forward(typename N::T* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += N::kWidth)
    N::store(tanh(N::load(x + i, count - i)), x + i, count - i);
}

template <class N>
ATTN_FN void tanh_backward(const TanhBackward<typename N::T>& step) {
  using V = typename N::V;
  using T = typename N::T;
  for (std::int64_t row = 0; row < step.rows; ++row)
    for (std::int64_t c = 0; c < step.columns; c += N::kWidth) {
      const std::int64_t left = step.columns - c;
      const std::int64_t at = row * step.columns + c;
      V arriving(T(0));
      if (step.d_out != nullptr)
        arriving = arriving + N::load(step.d_out + row * step.d_out_stride + c, left);
      if (step.d_more != nullptr) arriving = arriving + N::load(step.d_more + at, left);
      const V out = N::load(step.out + at, left);
      N::store(arriving * (V(T(1)) - out * out), step.d_x + at, left);
    }
}

template <class N>
inline constexpr CellTable<typename N::T> kCellTable{
    &gru_forward<N>,       &gru_backward<N>,       &lstm_forward<N>, &lstm_backward<N>,
    &attention_forward<N>, &attention_backward<N>, &tanh_forward<N>, &tanh_backward<N>};

}  // namespace attn::cpu
