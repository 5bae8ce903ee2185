/// One direction of one recurrent layer, in time-major memory: what the layers of rnn.hpp and
/// the decoders of attention_decoder.hpp run at each step, and its way back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/cells_table.hpp"
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
  /// States lie in the order of time, one more than steps: where those around a step are.
  std::int64_t before(std::int64_t time) const { return way == Way::forward ? time : time + 1; }
  std::int64_t after(std::int64_t time) const { return way == Way::forward ? time + 1 : time; }
  std::int64_t first_slot() const { return way == Way::forward ? 0 : steps; }
  std::int64_t last_slot() const { return steps - first_slot(); }
};

/// What forward keeps for backward.
struct LayerMemory {
  Tensor gates;   ///< [steps, batch, 4 * hidden]
  Tensor states;  ///< [steps + 1, batch, hidden]
  Tensor cells;   ///< the same, LSTM only

  LayerMemory(const LayerShape& shape, DType dtype, Device device = Device::cpu);
  /// The state before the first step; none: zeros.
  void start(const LayerShape& shape, const Tensor& state, const Tensor& cell) const;
};

/// Bias [4 * hidden] as the cells want it, zeros where the weights have none.
Tensor kept_bias(const LayerShape& shape, const RecurrentWeights& weights);

/// The steps of a layer. Gates come with the product of the input and leave with what is kept.
template <class T>
class LayerForward {
 public:
  LayerForward(const LayerShape& shape, const RecurrentWeights& weights,
               const LayerMemory& memory, const Tensor& lengths);

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
            std::int64_t out_stride) const;

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
                const Tensor& lengths, const Tensor& d_state, const Tensor& d_cell);

  T* d_gates(std::int64_t time, std::int64_t row) const {
    return d_gates_data_ + (time * shape_.batch + row) * shape_.d_gates_stride();
  }
  T* d_state(std::int64_t row) const { return d_state_data_ + row * shape_.hidden; }
  /// `d_out` may be null.
  void step(std::int64_t time, std::int64_t first, std::int64_t rows, const T* d_out,
            std::int64_t d_out_stride) const;

  /// After all steps.
  const Tensor& d_state() const { return d_state_; }
  const Tensor& d_cell() const { return d_cell_; }
  /// d_gates over all steps: [steps * batch, input_columns()].
  Matrix<const T> d_inputs() const;
  /// One product over all steps (GRU: one for what passes the reset gate, one for the rest),
  /// which `products` will run.
  Tensor d_weight_hh(ProductList<T>& products) const;
  struct Bias {
    Tensor ih;
    Tensor hh;
  };
  Bias d_bias() const;

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
