#include "tensor/ops/rnn_layer.hpp"

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/cells_table.hpp"
#include "tensor/ops/rnn_weight.hpp"

namespace attn::op {
namespace {

using gemm::Transpose;

const std::int64_t* lengths_of(const Tensor& lengths) {
  return lengths.defined() ? lengths.data<std::int64_t>() : nullptr;
}

/// A copy to write to, or zeros.
Tensor copy_or_zeros(const Tensor& x, const Shape& shape, DType dtype) {
  return x.defined() ? x.clone() : Tensor::zeros(shape, dtype);
}

void set_slot(const Tensor& slots, std::int64_t slot, const Tensor& value) {
  Tensor place = slots.select(0, slot);
  if (value.defined()) {
    place.copy_from(value);
  } else {
    place.fill(0.0);
  }
}

cpu::StepRows step_rows(const std::int64_t* lengths, std::int64_t time, std::int64_t first,
                        std::int64_t rows) {
  return {rows, time, lengths == nullptr ? nullptr : lengths + first};
}

}  // namespace

LayerMemory::LayerMemory(const LayerShape& shape, DType dtype, Device device)
    : gates(Tensor::empty({shape.steps, shape.batch, shape.kept_columns()}, dtype, device)),
      states(Tensor::empty({shape.steps + 1, shape.batch, shape.hidden}, dtype, device)) {
  if (shape.kind == CellKind::lstm) cells = Tensor::empty(states.shape(), dtype, device);
}

void LayerMemory::start(const LayerShape& shape, const Tensor& state,
                        const Tensor& cell) const {
  const NoGrad off_the_tape;
  set_slot(states, shape.first_slot(), state);
  if (cells.defined()) set_slot(cells, shape.first_slot(), cell);
}

Tensor kept_bias(const LayerShape& shape, const RecurrentWeights& weights) {
  const NoGrad off_the_tape;
  const std::int64_t hidden = shape.hidden;
  const DType dtype = weights.weight_hh.dtype();
  const auto given = [&](const Tensor& bias) {
    return bias.defined()
               ? bias.detach()
               : Tensor::zeros({shape.input_columns()}, dtype, weights.weight_hh.device());
  };
  const Tensor ih = given(weights.bias_ih);
  const Tensor hh = given(weights.bias_hh);
  Tensor both = add(ih, hh);
  if (shape.kind == CellKind::lstm) return both;
  // The recurrent bias of the new gate lies inside the reset gate's product.
  return concat({both.slice(0, 0, 2 * hidden), ih.slice(0, 2 * hidden, 3 * hidden),
                 hh.slice(0, 2 * hidden, 3 * hidden)},
                0);
}

template <class T>
LayerForward<T>::LayerForward(const LayerShape& shape, const RecurrentWeights& weights,
                              const LayerMemory& memory, const Tensor& lengths)
    : shape_(shape),
      recurrent_(matrix_of<T>(weights.weight_hh), Transpose::yes, shape.steps),
      bias_(kept_bias(shape, weights)),
      bias_data_(bias_.data<T>()),
      gates_(memory.gates.mutable_data<T>()),
      states_(memory.states.mutable_data<T>()),
      lengths_(lengths),
      lengths_data_(lengths_of(lengths)) {
  if (shape.kind == CellKind::lstm) {
    cells_ = memory.cells.mutable_data<T>();
  } else {
    product_ = Tensor::empty({shape.batch, shape.input_columns()}, kDType<T>);
    product_data_ = product_.mutable_data<T>();
  }
}

template <class T>
void LayerForward<T>::step(std::int64_t time, std::int64_t first, std::int64_t rows, T* out,
                           std::int64_t out_stride) const {
  const std::int64_t hidden = shape_.hidden;
  const std::int64_t before = (shape_.before(time) * shape_.batch + first) * hidden;
  const std::int64_t after = (shape_.after(time) * shape_.batch + first) * hidden;
  cpu::CellForward<T> cell{.rows = step_rows(lengths_data_, time, first, rows),
                           .hidden = hidden,
                           .bias = bias_data_,
                           .gates = gates(time, first),
                           .before = states_ + before,
                           .after = states_ + after,
                           .out = out,
                           .out_stride = out_stride};
  const cpu::CellTable<T>& table = cpu::cell_table<T>();
  if (shape_.kind == CellKind::lstm) {
    recurrent_.run(rows, cell.before, hidden, cell.gates, shape_.kept_columns(), Onto::add);
    cell.cell_before = cells_ + before;
    cell.cell_after = cells_ + after;
    table.lstm_forward(cell);
  } else {
    T* product = product_data_ + first * shape_.input_columns();
    recurrent_.run(rows, cell.before, hidden, product, shape_.input_columns(), Onto::replace);
    cell.recurrent = product;
    table.gru_forward(cell);
  }
}

template <class T>
LayerBackward<T>::LayerBackward(const LayerShape& shape, const Tensor& weight_hh,
                                const LayerMemory& memory, const Tensor& lengths,
                                const Tensor& d_state, const Tensor& d_cell)
    : shape_(shape),
      memory_(memory),
      lengths_(lengths),
      d_state_(copy_or_zeros(d_state, {shape.batch, shape.hidden}, kDType<T>)),
      d_gates_(Tensor::empty({shape.steps * shape.batch, shape.d_gates_stride()}, kDType<T>)),
      d_state_data_(d_state_.mutable_data<T>()),
      d_gates_data_(d_gates_.mutable_data<T>()),
      gates_(memory.gates.data<T>()),
      states_(memory.states.data<T>()),
      lengths_data_(lengths_of(lengths)) {
  const Matrix<const T> weight = matrix_of<T>(weight_hh);
  const std::int64_t hidden = shape.hidden;
  if (shape.kind == CellKind::lstm) {
    d_cell_ = copy_or_zeros(d_cell, d_state_.shape(), kDType<T>);
    d_cell_data_ = d_cell_.mutable_data<T>();
    cells_ = memory.cells.data<T>();
    direct_ = StepWeight<T>(weight, Transpose::no, shape.steps);
  } else {
    direct_ = StepWeight<T>(weight.rows_from(0, 2 * hidden), Transpose::no, shape.steps);
    reset_ = StepWeight<T>(weight.rows_from(2 * hidden, hidden), Transpose::no, shape.steps);
  }
}

template <class T>
void LayerBackward<T>::step(std::int64_t time, std::int64_t first, std::int64_t rows,
                            const T* d_out, std::int64_t d_out_stride) const {
  const std::int64_t hidden = shape_.hidden;
  const std::int64_t stride = shape_.d_gates_stride();
  const std::int64_t before = (shape_.before(time) * shape_.batch + first) * hidden;
  const std::int64_t after = (shape_.after(time) * shape_.batch + first) * hidden;
  T* state = d_state(first);
  T* gates = d_gates(time, first);
  cpu::CellBackward<T> cell{
      .rows = step_rows(lengths_data_, time, first, rows),
      .hidden = hidden,
      .gates = gates_ + (time * shape_.batch + first) * shape_.kept_columns(),
      .before = states_ + before,
      .d_out = d_out,
      .d_out_stride = d_out_stride,
      .d_state = state,
      .d_gates = gates,
      .d_gates_stride = shape_.d_gates_stride()};
  const cpu::CellTable<T>& table = cpu::cell_table<T>();
  if (shape_.kind == CellKind::lstm) {
    cell.cell_before = cells_ + before;
    cell.cell_after = cells_ + after;
    cell.d_cell = d_cell_data_ + first * hidden;
    table.lstm_backward(cell);
    direct_.run(rows, gates, stride, state, hidden, Onto::add);
  } else {
    table.gru_backward(cell);
    direct_.run(rows, gates, stride, state, hidden, Onto::add);
    reset_.run(rows, gates + 3 * hidden, stride, state, hidden, Onto::add);
  }
}

template <class T>
Matrix<const T> LayerBackward<T>::d_inputs() const {
  return {d_gates_data_, shape_.steps * shape_.batch, shape_.input_columns(),
          shape_.d_gates_stride()};
}

template <class T>
Tensor LayerBackward<T>::d_weight_hh(ProductList<T>& products) const {
  const std::int64_t hidden = shape_.hidden;
  const std::int64_t rows = shape_.steps * shape_.batch;
  const Tensor result = Tensor::empty({shape_.input_columns(), hidden}, kDType<T>);
  const Matrix<T> to = mutable_matrix_of<T>(result);
  const Matrix<const T> gates{d_gates_data_, rows, shape_.kept_columns(),
                              shape_.d_gates_stride()};
  const Matrix<const T> states{states_ + shape_.before(0) * shape_.batch * hidden, rows, hidden,
                               hidden};
  // The last gate of an LSTM lies where it belongs, that of a GRU stands for its new gate.
  const std::int64_t before_last = to.rows - hidden;
  products.add({.a = gates.columns_from(0, before_last),
                .transpose_a = Transpose::yes,
                .b = states,
                .c = to.rows_from(0, before_last)});
  products.add({.a = gates.columns_from(3 * hidden, hidden),
                .transpose_a = Transpose::yes,
                .b = states,
                .c = to.rows_from(before_last, hidden)});
  return result;
}

template <class T>
typename LayerBackward<T>::Bias LayerBackward<T>::d_bias() const {
  const std::int64_t hidden = shape_.hidden;
  const Tensor sums = sum(d_gates_, 0);
  const Tensor first = sums.slice(0, 0, shape_.input_columns());
  if (shape_.kind == CellKind::lstm) return {first, first};
  return {first,
          concat({sums.slice(0, 0, 2 * hidden), sums.slice(0, 3 * hidden, 4 * hidden)}, 0)};
}

template class LayerForward<float>;
template class LayerForward<double>;
template class LayerBackward<float>;
template class LayerBackward<double>;

}  // namespace attn::op
