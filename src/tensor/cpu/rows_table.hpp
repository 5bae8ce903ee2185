/// The kernels on one row of numbers (softmax, layer normalisation, cross-entropy), as the ops
/// see them: for floats one table an instruction set, for doubles plain loops.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "kernels/cpu/isa_table.hpp"

namespace attn::cpu {

/// What softmax and cross-entropy need to know of a row.
template <class T>
struct RowSum {
  T max;    ///< -inf for an empty row
  T sum;    ///< of e^(x - max); NaN if the row holds a NaN or +inf
  T total;  ///< of x
};

/// What the gradients of the rows of one layer normalisation share.
template <class T>
struct LayerNormShared {
  std::int64_t count;
  const T* weight;  ///< null: ones
  T* d_weight;      ///< [count], added to; null: not wanted
  T* d_bias;
};

/// Mean and 1 / sqrt(variance + eps) of a row.
template <class T>
struct RowMoments {
  T mean;
  T scale;
};

template <class T>
struct RowTable {
  /// out = softmax(x) over the places that `keep` (null: all) holds, 0 elsewhere. Nothing else
  /// is read, and a row without any is 0.
  void (*softmax)(std::int64_t count, const T* x, const bool* keep, T* out);
  /// dx = y (grad - sum(y grad)); where y is 0, dx is 0 and grad is not read.
  void (*softmax_backward)(std::int64_t count, const T* y, const T* grad, T* dx);

  /// out = x - log(sum(e^x)); -inf stays -inf.
  void (*log_softmax)(std::int64_t count, const T* x, T* out);
  /// dx = grad - e^y sum(grad), over the places where y is not -inf; 0 there.
  void (*log_softmax_backward)(std::int64_t count, const T* y, const T* grad, T* dx);

  /// out = (x - mean) * scale * weight + bias; null: ones and zeros.
  RowMoments<T> (*layer_norm)(std::int64_t count, const T* x, const T* weight, const T* bias,
                              T eps, T* out);
  /// dx may be null.
  void (*layer_norm_backward)(const LayerNormShared<T>& shared, const T* x, const T* grad,
                              const RowMoments<T>& moments, T* dx);

  RowSum<T> (*exp_sum)(std::int64_t count, const T* x);
  /// dx = factor * e^(x - max) - shift.
  void (*cross_entropy_backward)(std::int64_t count, const T* x, T max, T factor, T shift,
                                 T* dx);
};

/// float: the table of the best instruction set of this machine.
template <class T>
const RowTable<T>& row_table() {
  return best_table<RowTable<T>>();
}
template <>
const RowTable<double>& row_table<double>();

}  // namespace attn::cpu
