/// One direction of one recurrent layer, in time-major memory: what the layers of rnn.hpp and
/// the decoders of attention_decoder.hpp run at each step, and its way back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

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
#include "tensor/op.hpp"
#include "tensor/ops/rnn_weight.hpp"

namespace attn::op {

enum class CellKind { gru, lstm };
enum class Way { forward, reverse };

struct LayerShape {
  CellKind kind = CellKind::gru;
  Way way = Way::forward;
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::int64_t hidden = 0;

  /// Gates of the weights, and columns of what a product with the input gives.
  std::int64_t gates() const { return kind == CellKind::gru ? 3 : 4; }
  std::int64_t input_columns() const { return gates() * hidden; }
  std::int64_t kept_columns() const { return cpu::kKeptGates * hidden; }
  /// Numbers from one row of d_gates to the next. An odd number of cache lines: the products
  /// that turn d_gates read down its columns, and rows a multiple of 1 KiB apart would share
  /// few sets of the cache (Zen 3, 640 x 1024: 43 GF/s a core, 80 so).
  std::int64_t d_gates_stride() const {
    constexpr std::int64_t kLine = 16;
    return ((kept_columns() + kLine - 1) / kLine | 1) * kLine;
  }
  std::int64_t time(std::int64_t step) const {
    return way == Way::forward ? step : steps - 1 - step;
  }
  /// States lie in the order of time, one more than steps: where those around a step are.
  std::int64_t before(std::int64_t time) const { return way == Way::forward ? time : time + 1; }
  std::int64_t after(std::int64_t time) const { return way == Way::forward ? time + 1 : time; }
  std::int64_t first_slot() const { return way == Way::forward ? 0 : steps; }
  std::int64_t last_slot() const { return steps - first_slot(); }
};

inline void set_or_clear(Tensor place, const Tensor& value) {
  if (value.defined()) {
    place.copy_from(value);
  } else {
    place.fill(0.0);
  }
}
/// A copy to write to, or zeros.
inline Tensor copy_or_zeros(const Tensor& x, const LayerShape& shape, DType dtype,
                            Device device = Device::cpu) {
  return x.defined() ? x.clone() : Tensor::zeros({shape.batch, shape.hidden}, dtype, device);
}

/// What forward keeps for backward.
struct LayerMemory {
  Tensor gates;   ///< [steps, batch, 4 * hidden]
  Tensor states;  ///< [steps + 1, batch, hidden]
  Tensor cells;   ///< the same, LSTM only

  /// Holds the state before the first step; none: zeros.
  LayerMemory(const LayerShape& shape, DType dtype, Device device, const Tensor& state,
              const Tensor& cell)
      : gates(Tensor::empty({shape.steps, shape.batch, shape.kept_columns()}, dtype, device)),
        states(Tensor::empty({shape.steps + 1, shape.batch, shape.hidden}, dtype, device)) {
    const NoGrad off_the_tape;
    set_or_clear(states.select(0, shape.first_slot()), state);
    if (shape.kind == CellKind::gru) return;
    cells = Tensor::empty(states.shape(), dtype, device);
    set_or_clear(cells.select(0, shape.first_slot()), cell);
  }
};

/// Bias [4 * hidden] as the cells want it, zeros where the weights have none.
inline Tensor kept_bias(const LayerShape& shape, const RecurrentWeights& weights) {
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

/// The steps of a layer. Gates come with the product of the input and leave with what is kept.
template <class T>
class LayerForward {
 public:
  LayerForward(const LayerShape& shape, const RecurrentWeights& weights,
               const LayerMemory& memory, const Tensor& lengths)
      : shape_(shape),
        recurrent_(matrix_of<T>(weights.weight_hh), gemm::Transpose::yes, shape.steps),
        bias_(kept_bias(shape, weights)),
        bias_data_(bias_.data<T>()),
        gates_(memory.gates.mutable_data<T>()),
        states_(memory.states.mutable_data<T>()),
        lengths_(lengths),
        lengths_data_(numbers_or_null<std::int64_t>(lengths)) {
    if (shape.kind == CellKind::lstm) {
      cells_ = memory.cells.mutable_data<T>();
    } else {
      product_ = Tensor::empty({shape.batch, shape.input_columns()}, kDType<T>);
      product_data_ = product_.mutable_data<T>();
    }
  }

  /// Where the products with the inputs go, [batch, input_columns()] with kept_columns()
  /// between rows.
  T* gates(std::int64_t time, std::int64_t row) const {
    return gates_ + (time * shape_.batch + row) * shape_.kept_columns();
  }
  const T* state_before(std::int64_t time, std::int64_t row) const {
    return states_ + (shape_.before(time) * shape_.batch + row) * shape_.hidden;
  }
  const T* state_after(std::int64_t time, std::int64_t row) const {
    return states_ + (shape_.after(time) * shape_.batch + row) * shape_.hidden;
  }
  /// `out` may be null.
  void step(std::int64_t time, std::int64_t first, std::int64_t rows, T* out,
            std::int64_t out_stride) const {
    const std::int64_t hidden = shape_.hidden;
    const std::int64_t before = (shape_.before(time) * shape_.batch + first) * hidden;
    const std::int64_t after = (shape_.after(time) * shape_.batch + first) * hidden;
    cpu::CellForward<T> cell{
        .rows = {rows, time, lengths_data_ == nullptr ? nullptr : lengths_data_ + first},
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

 private:
  LayerShape shape_;
  StepWeight<T> recurrent_;
  Tensor bias_;
  Tensor product_;  ///< GRU: [batch, 3 * hidden]
  const T* bias_data_ = nullptr;
  T* product_data_ = nullptr;
  T* gates_ = nullptr;
  T* states_ = nullptr;
  T* cells_ = nullptr;
  Tensor lengths_;
  const std::int64_t* lengths_data_ = nullptr;
};

/// The way back: `d_state` and `d_cell` run from the last step to the first.
template <class T>
class LayerBackward {
 public:
  /// Gradients of the states after the last step may be undefined.
  LayerBackward(const LayerShape& shape, const Tensor& weight_hh, const LayerMemory& memory,
                const Tensor& lengths, const Tensor& d_state, const Tensor& d_cell)
      : shape_(shape),
        memory_(memory),
        lengths_(lengths),
        d_state_(copy_or_zeros(d_state, shape, kDType<T>)),
        d_gates_(Tensor::empty({shape.steps * shape.batch, shape.d_gates_stride()}, kDType<T>)),
        d_state_data_(d_state_.mutable_data<T>()),
        d_gates_data_(d_gates_.mutable_data<T>()),
        gates_(memory.gates.data<T>()),
        states_(memory.states.data<T>()),
        lengths_data_(numbers_or_null<std::int64_t>(lengths)) {
    const Matrix<const T> weight = matrix_of<T>(weight_hh);
    const std::int64_t hidden = shape.hidden;
    if (shape.kind == CellKind::lstm) {
      d_cell_ = copy_or_zeros(d_cell, shape, kDType<T>);
      d_cell_data_ = d_cell_.mutable_data<T>();
      cells_ = memory.cells.data<T>();
      direct_ = StepWeight<T>(weight, gemm::Transpose::no, shape.steps);
    } else {
      direct_ =
          StepWeight<T>(weight.rows_from(0, 2 * hidden), gemm::Transpose::no, shape.steps);
      reset_ =
          StepWeight<T>(weight.rows_from(2 * hidden, hidden), gemm::Transpose::no, shape.steps);
    }
  }

  T* d_gates(std::int64_t time, std::int64_t row) const {
    return d_gates_data_ + (time * shape_.batch + row) * shape_.d_gates_stride();
  }
  T* d_state(std::int64_t row) const { return d_state_data_ + row * shape_.hidden; }
  /// `d_out` may be null.
  void step(std::int64_t time, std::int64_t first, std::int64_t rows, const T* d_out,
            std::int64_t d_out_stride) const {
    const std::int64_t hidden = shape_.hidden;
    const std::int64_t stride = shape_.d_gates_stride();
    const std::int64_t before = (shape_.before(time) * shape_.batch + first) * hidden;
    const std::int64_t after = (shape_.after(time) * shape_.batch + first) * hidden;
    T* state = d_state(first);
    T* gates = d_gates(time, first);
    cpu::CellBackward<T> cell{
        .rows = {rows, time, lengths_data_ == nullptr ? nullptr : lengths_data_ + first},
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

  /// After all steps.
  const Tensor& d_state() const { return d_state_; }
  const Tensor& d_cell() const { return d_cell_; }
  /// d_gates over all steps: [steps * batch, input_columns()].
  Matrix<const T> d_inputs() const {
    return {d_gates_data_, shape_.steps * shape_.batch, shape_.input_columns(),
            shape_.d_gates_stride()};
  }
  /// One product over all steps (GRU: one for what passes the reset gate, one for the rest),
  /// which `products` will run.
  Tensor d_weight_hh(ProductList<T>& products) const {
    const std::int64_t hidden = shape_.hidden;
    const std::int64_t rows = shape_.steps * shape_.batch;
    const Tensor result = Tensor::empty({shape_.input_columns(), hidden}, kDType<T>);
    const Matrix<T> to = mutable_matrix_of<T>(result);
    const Matrix<const T> gates{d_gates_data_, rows, shape_.kept_columns(),
                                shape_.d_gates_stride()};
    const Matrix<const T> states{states_ + shape_.before(0) * shape_.batch * hidden, rows,
                                 hidden, hidden};
    // The last gate of an LSTM lies where it belongs, that of a GRU stands for its new gate.
    const std::int64_t before_last = to.rows - hidden;
    products.add({.a = gates.columns_from(0, before_last),
                  .transpose_a = gemm::Transpose::yes,
                  .b = states,
                  .c = to.rows_from(0, before_last)});
    products.add({.a = gates.columns_from(3 * hidden, hidden),
                  .transpose_a = gemm::Transpose::yes,
                  .b = states,
                  .c = to.rows_from(before_last, hidden)});
    return result;
  }
  struct Bias {
    Tensor ih;
    Tensor hh;
  };
  Bias d_bias() const {
    const std::int64_t hidden = shape_.hidden;
    const Tensor sums = sum(d_gates_, 0);
    const Tensor first = sums.slice(0, 0, shape_.input_columns());
    if (shape_.kind == CellKind::lstm) return {first, first};
    return {first,
            concat({sums.slice(0, 0, 2 * hidden), sums.slice(0, 3 * hidden, 4 * hidden)}, 0)};
  }

 private:
  LayerShape shape_;
  LayerMemory memory_;
  Tensor lengths_;
  Tensor d_state_;
  Tensor d_cell_;
  Tensor d_gates_;        ///< [steps * batch, d_gates_stride()]
  StepWeight<T> direct_;  ///< of the gates that see the state alone; LSTM: all
  StepWeight<T> reset_;   ///< GRU: of the new gate
  T* d_state_data_ = nullptr;
  T* d_cell_data_ = nullptr;
  T* d_gates_data_ = nullptr;
  const T* gates_ = nullptr;
  const T* states_ = nullptr;
  const T* cells_ = nullptr;
  const std::int64_t* lengths_data_ = nullptr;
};

}  // namespace attn::op
