/// StepWeight: a weight that every step of a loop over time multiplies by.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <type_traits>
#include <vector>

#include "attn/gemm/gemm.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn::op {

/// Rows and columns of numbers, `stride` apart.
template <class T>
struct Matrix {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;

  operator Matrix<const T>() const  // NOLINT(google-explicit-constructor)
    requires(!std::is_const_v<T>)
  {
    return {data, rows, columns, stride};
  }
  Matrix<T> columns_from(std::int64_t first, std::int64_t count) const {
    return {data + first, rows, count, stride};
  }
  Matrix<T> rows_from(std::int64_t first, std::int64_t count) const {
    return {data + first * stride, count, columns, stride};
  }
};

/// A packed tensor, its last axis as columns.
template <class T>
Matrix<const T> matrix_of(const Tensor& x) {
  const std::int64_t columns = x.size(-1);
  return {x.data<T>(), columns == 0 ? 0 : x.numel() / columns, columns, columns};
}
template <class T>
Matrix<T> mutable_matrix_of(const Tensor& x) {
  const std::int64_t columns = x.size(-1);
  return {x.mutable_data<T>(), columns == 0 ? 0 : x.numel() / columns, columns, columns};
}

/// Whether a product replaces what was there.
enum class Onto { replace, add };

/// C = or += A B, where A and B may be turned.
template <class T>
struct Product {
  Matrix<const T> a;
  gemm::Transpose transpose_a = gemm::Transpose::no;
  Matrix<const T> b;
  gemm::Transpose transpose_b = gemm::Transpose::no;
  Matrix<T> c;
  Onto onto = Onto::replace;
};

/// On all threads.
template <class T>
void multiply(const Product<T>& product);

/// Products that wait for nothing and run together, so that small ones keep all threads busy.
template <class T>
class ProductList {
 public:
  void add(const Product<T>& product) { products_.push_back(product); }
  void run() const;

 private:
  std::vector<Product<T>> products_;
};

/// Multiplies the rows of a step by W^T (Transpose::yes) or W. Made once before a loop of
/// `steps`; it pays then to lay W out anew.
template <class T>
class StepWeight {
 public:
  StepWeight() = default;
  StepWeight(Matrix<const T> weight, gemm::Transpose transpose, std::int64_t steps);

  /// c [rows, n] = or += a [rows, k] times the weight.
  void run(std::int64_t rows, const T* a, std::int64_t a_stride, T* c, std::int64_t c_stride,
           Onto onto) const;

 private:
  Matrix<const T> weight_;
  gemm::Transpose transpose_ = gemm::Transpose::no;
  Tensor panels_;
  float* panels_data_ = nullptr;
};

/// Rows that run through all steps together. Small, so that a batch of 64 keeps four threads
/// busy without one waiting for another at each step; a packed product of 16 rows runs at 90 %
/// of the speed of 64 (Zen 3, 768 x 256).
inline constexpr std::int64_t kStepRows = 16;

/// Calls run(first, count) for blocks of rows, in parallel.
template <class Run>
void in_row_blocks(std::int64_t rows, const Run& run) {
  in_blocks(rows, kStepRows,
            [&](std::int64_t begin, std::int64_t end) { run(begin, end - begin); });
}

}  // namespace attn::op
