#include "tensor/ops/rnn_weight.hpp"

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
namespace {

using gemm::Transpose;

/// Laying a weight out costs about as much as a product with six rows.
constexpr std::int64_t kStepsToPack = 3;

/// Rows of a piece of a product in a list.
constexpr std::int64_t kPieceRows = 256;

}  // namespace

template <class T>
void multiply(const Product<T>& product) {
  const auto& [a, transpose_a, b, transpose_b, c, onto] = product;
  if (c.rows == 0 || c.columns == 0) return;
  const std::int64_t depth = transpose_a == Transpose::yes ? a.rows : a.columns;
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

template <class T>
void ProductList<T>::run() const {
  std::vector<Product<T>> pieces;
  for (const Product<T>& product : products_)
    for (std::int64_t row = 0; row < product.c.rows; row += kPieceRows) {
      const std::int64_t rows = std::min(kPieceRows, product.c.rows - row);
      Product<T> piece = product;
      piece.a = product.transpose_a == Transpose::yes ? product.a.columns_from(row, rows)
                                                      : product.a.rows_from(row, rows);
      piece.c = product.c.rows_from(row, rows);
      pieces.push_back(piece);
    }
  in_blocks(static_cast<std::int64_t>(pieces.size()), 1,
            [&](std::int64_t begin, std::int64_t end) {
              for (std::int64_t i = begin; i < end; ++i)
                multiply(pieces[static_cast<std::size_t>(i)]);
            });
}

template <class T>
StepWeight<T>::StepWeight(Matrix<const T> weight, Transpose transpose, std::int64_t steps)
    : weight_(weight), transpose_(transpose) {
  if constexpr (std::is_same_v<T, float>) {
    const bool turned = transpose == Transpose::yes;
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
    in_blocks(panels, grain,
              [&](std::int64_t begin, std::int64_t end) { table.pack(from, to, begin, end); });
  }
}

template <class T>
void StepWeight<T>::run(std::int64_t rows, const T* a, std::int64_t a_stride, T* c,
                        std::int64_t c_stride, Onto onto) const {
  const bool turned = transpose_ == Transpose::yes;
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

template void multiply(const Product<float>&);
template void multiply(const Product<double>&);
template class ProductList<float>;
template class ProductList<double>;
template class StepWeight<float>;
template class StepWeight<double>;

}  // namespace attn::op
