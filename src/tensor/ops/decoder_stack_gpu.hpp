/// The recurrent layers of a decoder on the GPU, in memory as attention_decoder_stack.hpp has
/// it. A layer's state passes one product a step: the weight of whoever reads it lies above
/// weight_hh, so that the reader and the layer's own next step are served together.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/steps.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/attention_decoder_stack.hpp"
#include "tensor/ops/multiplied.hpp"
#include "tensor/ops/rnn_layer.hpp"

namespace attn::op {

/// Rows that lie `stride` apart on the GPU.
template <class T>
struct Rows {
  T* data = nullptr;
  std::int64_t stride = 0;
};

/// For each layer [readers + gates * hidden, hidden]. A layer is read by the weight_ih of the
/// one above, the top layer by `top_readers`, which may be undefined.
inline Tensor passing_weight(const std::vector<RecurrentWeights>& weights, std::size_t layer,
                             const Tensor& top_readers) {
  const NoGrad off_the_tape;
  const Tensor& readers =
      layer + 1 < weights.size() ? weights[layer + 1].weight_ih : top_readers;
  return readers.defined() ? concat({readers, weights[layer].weight_hh}, 0)
                           : weights[layer].weight_hh.contiguous();
}

template <class T>
class GpuStackForward {
 public:
  /// `top` [steps + 1, batch, readers + gates * hidden] gets the products of all top states.
  GpuStackForward(const std::vector<RecurrentWeights>& weights, const StackMemory& memory,
                  const Tensor& top_readers, const Tensor& top)
      : shape_(memory.shape) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const Tensor weight = passing_weight(weights, i, top_readers);
      layers_.push_back(
          {memory.layers[i], weight, kept_bias(shape_, weights[i]).contiguous(),
           i + 1 == weights.size()
               ? top
               : Tensor::empty({1, shape_.batch, weight.size(0)}, kDType<T>, Device::gpu)});
    }
  }

  std::size_t count() const { return layers_.size(); }
  /// The step of a layer. `a` is the product of its input, null for a layer above the lowest.
  gpu::CellStep<T> cell(std::size_t layer, std::int64_t time, Rows<const T> a = {}) const {
    const Layer& own = layers_[layer];
    if (layer > 0)
      a = {product(layers_[layer - 1], time + 1), layers_[layer - 1].weight.size(0)};
    const std::int64_t size = shape_.batch * shape_.hidden;
    T* before = numbers<T>(own.memory.states) + shape_.before(time) * size;
    T* cells = own.memory.cells.defined() ? numbers<T>(own.memory.cells) : nullptr;
    return {.rows = {shape_.batch, shape_.hidden, time, nullptr},
            .a = a.data,
            .a_stride = a.stride,
            .u = product(own, time) + own.weight.size(0) - shape_.input_columns(),
            .u_stride = own.weight.size(0),
            .bias = numbers<const T>(own.bias),
            .before = before,
            .cell_before = cells == nullptr ? nullptr : cells + shape_.before(time) * size,
            .gates = numbers<T>(own.memory.gates) + time * shape_.batch * shape_.kept_columns(),
            .after = before + size,
            .cell_after = cells == nullptr ? nullptr : cells + shape_.after(time) * size,
            .out = nullptr};
  }
  /// The product of the state in `slot`: `time` is before a step, `time + 1` after it.
  void pass(std::size_t layer, std::int64_t slot) const {
    const Layer& own = layers_[layer];
    multiply_on_gpu<T>(
        shape_.batch, numbers<const T>(own.memory.states) + slot * shape_.batch * shape_.hidden,
        own.weight, gemm::Transpose::yes, product(own, slot));
  }
  /// What the readers of the top state see of it.
  Rows<const T> read(std::int64_t slot) const {
    return {product(layers_.back(), slot), layers_.back().weight.size(0)};
  }

 private:
  struct Layer {
    LayerMemory memory;
    Tensor weight;
    Tensor bias;
    Tensor product;  ///< [slots, batch, readers + gates * hidden]
  };
  T* product(const Layer& layer, std::int64_t slot) const {
    return numbers<T>(layer.product) +
           slot % layer.product.size(0) * shape_.batch * layer.weight.size(0);
  }

  LayerShape shape_;
  std::vector<Layer> layers_;
};

template <class T>
class GpuStackBackward {
 public:
  /// d_state and d_cell [layers, batch, hidden] may be undefined.
  GpuStackBackward(const std::vector<RecurrentWeights>& weights, const StackMemory& memory,
                   const Tensor& top_readers, const Tensor& d_state, const Tensor& d_cell)
      : shape_(memory.shape),
        d_inputs_(Tensor::empty({shape_.steps * shape_.batch, shape_.input_columns()},
                                kDType<T>, Device::gpu)) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const LayerMemory& own = memory.layers[i];
      const Tensor weight = passing_weight(weights, i, top_readers);
      const Tensor d_product = Tensor::empty({shape_.steps + 1, shape_.batch, weight.size(0)},
                                             kDType<T>, Device::gpu);
      // The first state is read by no layer above, the last one by no later step.
      d_product.select(0, 0).fill(0.0);
      d_product.select(0, shape_.steps).fill(0.0);
      const auto arrived = [&](const Tensor& states) {
        return copy_or_zeros(layer_of(states, i), shape_, kDType<T>, Device::gpu);
      };
      layers_.push_back({own, weight, weight.size(0) - shape_.input_columns(), d_product,
                         arrived(d_state), own.cells.defined() ? arrived(d_cell) : Tensor()});
    }
  }

  std::size_t count() const { return layers_.size(); }
  /// The way back of a layer's step; d_out [batch, hidden] may be null.
  gpu::CellStepBackward<T> cell(std::size_t layer, std::int64_t time,
                                const T* d_out = nullptr) const {
    const Layer& own = layers_[layer];
    const std::int64_t size = shape_.batch * shape_.hidden;
    const T* cells = numbers_or_null<T>(own.memory.cells);
    Rows<T> d_a{d_input(time), shape_.input_columns()};
    if (layer > 0)
      d_a = {d_product(layers_[layer - 1], time + 1), layers_[layer - 1].weight.size(0)};
    return {.rows = {shape_.batch, shape_.hidden, time, nullptr},
            .gates = numbers<const T>(own.memory.gates) +
                     time * shape_.batch * shape_.kept_columns(),
            .before = numbers<const T>(own.memory.states) + shape_.before(time) * size,
            .cell_before = cells == nullptr ? nullptr : cells + shape_.before(time) * size,
            .cell_after = cells == nullptr ? nullptr : cells + shape_.after(time) * size,
            .d_out = d_out,
            .d_state = numbers<T>(own.d_state),
            .d_cell = own.d_cell.defined() ? numbers<T>(own.d_cell) : nullptr,
            .d_a = d_a.data,
            .d_a_stride = d_a.stride,
            .d_u = d_product(own, time) + own.readers,
            .d_u_stride = own.weight.size(0)};
  }
  /// Adds what arrives at the products of a state to the gradient of that state.
  void pass(std::size_t layer, std::int64_t slot) const {
    const Layer& own = layers_[layer];
    multiply_on_gpu<T>(shape_.batch, d_product(own, slot), own.weight, gemm::Transpose::no,
                       numbers<T>(own.d_state), T(1));
  }
  /// Where the readers of the top state leave their gradients.
  Rows<T> d_read(std::int64_t slot) const {
    return {d_product(layers_.back(), slot), layers_.back().weight.size(0)};
  }
  T* d_top_state() const { return numbers<T>(layers_.back().d_state); }
  T* d_input(std::int64_t time) const {
    return numbers<T>(d_inputs_) + time * shape_.batch * shape_.input_columns();
  }

  // After all steps.
  Tensor d_states() const {
    return stack_of(layers_, [](const Layer& layer) { return layer.d_state; });
  }
  Tensor d_cells() const {
    return stack_of(layers_, [](const Layer& layer) { return layer.d_cell; });
  }
  /// Of the lowest layer's input product, [steps * batch, gates * hidden].
  const Tensor& d_inputs() const { return d_inputs_; }
  /// d_read of the slots [first, first + steps), [steps * batch, readers].
  Tensor d_reads(std::int64_t first) const {
    const Layer& top = layers_.back();
    return top.d_product.slice(0, first, first + shape_.steps)
        .flatten(0, 1)
        .slice(1, 0, top.readers);
  }
  /// Four gradients a layer from place `first` on, but for the lowest layer's weight_ih.
  /// Returns that of the top readers.
  Tensor weight_gradients(const Needs& needs, std::size_t first, Gradients& result) const {
    const auto wants_bias = [&](std::size_t layer) {
      return needs[first + 4 * layer + 2] || needs[first + 4 * layer + 3];
    };
    if (wants_bias(0)) result[first + 2] = sum(d_inputs_, 0);
    Tensor of_readers;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& own = layers_[i];
      const Tensor slopes = own.d_product.flatten(0, 1);
      const Tensor states = own.memory.states.flatten(0, 1);
      const std::size_t place = first + 4 * i;
      // The products with all states at once; rows of readers and of weight_hh lie as in
      // `weight`.
      const Tensor all = multiplied(slopes.transpose(0, 1), states);
      const Tensor upper = all.slice(0, 0, own.readers);
      const bool is_top = i + 1 == layers_.size();
      if (is_top) {
        of_readers = upper;
      } else if (needs[place + 4]) {
        result[place + 4] = upper;
      }
      if (needs[place + 1]) result[place + 1] = all.slice(0, own.readers, all.size(0));
      if (!wants_bias(i) && (is_top || !wants_bias(i + 1))) continue;
      const Tensor sums = sum(slopes, 0);
      result[place + 3] = sums.slice(0, own.readers, sums.size(0));
      if (!is_top) result[place + 6] = sums.slice(0, 0, own.readers);
    }
    return of_readers;
  }

 private:
  struct Layer {
    LayerMemory memory;
    Tensor weight;
    std::int64_t readers;
    Tensor d_product;  ///< [steps + 1, batch, readers + gates * hidden]
    Tensor d_state;
    Tensor d_cell;
  };
  T* d_product(const Layer& layer, std::int64_t slot) const {
    return numbers<T>(layer.d_product) + slot * shape_.batch * layer.weight.size(0);
  }

  LayerShape shape_;
  std::vector<Layer> layers_;
  Tensor d_inputs_;
};

}  // namespace attn::op
