/// StepWeight: a weight that every step of a loop over time multiplies by.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "attn/gemm/gemm.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/packed_table.hpp"
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

/// Laying a weight out costs about as much as a product with six rows.
inline constexpr std::int64_t kStepsToPack = 3;

/// Rows of a piece of a product in a list.
inline constexpr std::int64_t kPieceRows = 256;

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
void multiply(const Product<T>& product) {
  const auto& [a, transpose_a, b, transpose_b, c, onto] = product;
  if (c.rows == 0 || c.columns == 0) return;
  const std::int64_t depth = transpose_a == gemm::Transpose::yes ? a.rows : a.columns;
  if (depth == 0) {
    for (std::int64_t row = 0; row < c.rows && onto == Onto::replace; ++row)
      std::fill_n(c.data + row * c.stride, c.columns, T(0));
    return;
  }
  gemm::product(gemm::Args<T>{.m = c.rows,
                              .n = c.columns,
                              .k = depth,
                              .a = a.data,
                              .lda = a.stride,
                              .transpose_a = transpose_a,
                              .b = b.data,
                              .ldb = b.stride,
                              .transpose_b = transpose_b,
                              .c = c.data,
                              .ldc = c.stride,
                              .beta = onto == Onto::add ? T(1) : T(0)});
}

/// Products that wait for nothing and run together, so that small ones keep all threads busy.
template <class T>
class ProductList {
 public:
  void add(const Product<T>& product) { products_.push_back(product); }
  void run() const {
    std::vector<Product<T>> pieces;
    for (const Product<T>& product : products_)
      for (std::int64_t row = 0; row < product.c.rows; row += kPieceRows) {
        const std::int64_t rows = std::min(kPieceRows, product.c.rows - row);
        Product<T> piece = product;
        piece.a = product.transpose_a == gemm::Transpose::yes
                      ? product.a.columns_from(row, rows)
                      : product.a.rows_from(row, rows);
        piece.c = product.c.rows_from(row, rows);
        pieces.push_back(piece);
      }
    each(static_cast<std::int64_t>(pieces.size()), kGrain,
         [&](std::int64_t i) { multiply(pieces[static_cast<std::size_t>(i)]); });
  }

 private:
  std::vector<Product<T>> products_;
};

/// Multiplies the rows of a step by W^T (Transpose::yes) or W. Made once before a loop of
/// `steps`; it pays then to lay W out anew.
template <class T>
class StepWeight {
 public:
  StepWeight() = default;
  StepWeight(Matrix<const T> weight, gemm::Transpose transpose, std::int64_t steps)
      : weight_(weight), transpose_(transpose) {
    if constexpr (std::is_same_v<T, float>) {
      const bool turned = transpose == gemm::Transpose::yes;
      const std::int64_t n = turned ? weight.rows : weight.columns;
      const std::int64_t k = turned ? weight.columns : weight.rows;
      if (steps < kStepsToPack || n == 0 || k == 0) return;
      const cpu::PackedTable& table = cpu::packed_table();
      const std::int64_t panels = (n + table.panel - 1) / table.panel;
      panels_ = Tensor::empty({panels * table.panel * k});
      panels_data_ = panels_.mutable_data<float>();
      const cpu::UnpackedMatrix from{weight.data, turned ? 1 : weight.stride,
                                     turned ? weight.stride : 1};
      const cpu::PackedMatrix to{k, n, panels_data_};
      const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (table.panel * k));
      in_blocks(panels, grain, [&](std::int64_t begin, std::int64_t end) {
        table.pack(from, to, begin, end);
      });
    }
  }

  /// c [rows, n] = or += a [rows, k] times the weight.
  void run(std::int64_t rows, const T* a, std::int64_t a_stride, T* c, std::int64_t c_stride,
           Onto onto) const {
    const bool turned = transpose_ == gemm::Transpose::yes;
    const std::int64_t n = turned ? weight_.rows : weight_.columns;
    const std::int64_t k = turned ? weight_.columns : weight_.rows;
    if constexpr (std::is_same_v<T, float>) {
      if (panels_data_ != nullptr) {
        const cpu::PackedTable& table = cpu::packed_table();
        const cpu::PackedMatrix b{k, n, panels_data_};
        const cpu::PackedArgs args{rows, a, a_stride, c, c_stride};
        return onto == Onto::add ? table.multiply_add(b, args) : table.multiply(b, args);
      }
    }
    multiply<T>({.a = {a, rows, k, a_stride},
                 .b = weight_,
                 .transpose_b = transpose_,
                 .c = {c, rows, n, c_stride},
                 .onto = onto});
  }

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
