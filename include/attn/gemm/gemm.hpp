/// Matrix products. The order of a sum depends on the shape alone, so the number of threads
/// changes no bit; beyond a handful of rows and columns it depends on k alone, so that neither
/// do the other rows and columns.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::gemm {

/// Whether a matrix is read as it lies or transposed.
enum class Transpose { no, yes };

/// C = A B + beta C for each of `batch` products; row-major. A is [m, k] (transposed: stored
/// [k, m]), B [k, n] (transposed: [n, k]), C [m, n]. Leading strides and batch strides count
/// elements; a batch stride of 0 shares a matrix.
template <class T>
struct Args {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  const T* a = nullptr;
  std::int64_t lda = 0;
  Transpose transpose_a = Transpose::no;
  const T* b = nullptr;
  std::int64_t ldb = 0;
  Transpose transpose_b = Transpose::no;
  T* c = nullptr;
  std::int64_t ldc = 0;
  T beta = T(0);
  std::int64_t batch = 1;
  std::int64_t a_stride = 0;
  std::int64_t b_stride = 0;
  std::int64_t c_stride = 0;
};

/// `bias` [n], if there is one, is added to every row. T = float: the kernels of this machine.
/// T = double: plain loops, for checks. `threads` 0: the default of the pool.
template <class T>
void product(const Args<T>& args, const T* bias = nullptr, int threads = 0);

}  // namespace attn::gemm
