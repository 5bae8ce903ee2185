#include "tensor/ops/rnn_weight.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/packed_table.hpp"
#include "tensor/op.hpp"

namespace attn::op {
namespace {

using gemm::Turn;

/// Laying a weight out costs about as much as a product with six rows.
constexpr std::int64_t kStepsToPack = 3;

}  // namespace

template <class T>
void multiply(Matrix<const T> a, Turn turn_a, Matrix<const T> b, Turn turn_b, Matrix<T> c,
              Onto onto) {
  if (c.rows == 0 || c.columns == 0) return;
  const std::int64_t depth = turn_a == Turn::yes ? a.rows : a.columns;
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
                              .turn_a = turn_a,
                              .b = b.data,
                              .ldb = b.stride,
                              .turn_b = turn_b,
                              .c = c.data,
                              .ldc = c.stride,
                              .beta = onto == Onto::add ? T(1) : T(0)});
}

template <class T>
StepWeight<T>::StepWeight(Matrix<const T> weight, Turn turn, std::int64_t steps)
    : weight_(weight), turn_(turn) {
  if constexpr (std::is_same_v<T, float>) {
    const bool turned = turn == Turn::yes;
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
  const bool turned = turn_ == Turn::yes;
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
  multiply<T>({a, rows, k, a_stride}, Turn::no, weight_, turn_, {c, rows, n, c_stride}, onto);
}

template void multiply(Matrix<const float>, Turn, Matrix<const float>, Turn, Matrix<float>,
                       Onto);
template void multiply(Matrix<const double>, Turn, Matrix<const double>, Turn, Matrix<double>,
                       Onto);
template class StepWeight<float>;
template class StepWeight<double>;

}  // namespace attn::op
