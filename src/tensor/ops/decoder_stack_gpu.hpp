/// The recurrent layers of a decoder on the GPU, in memory as attention_decoder_stack.hpp has
/// it. A layer's state passes one product a step: the weight of whoever reads it lies above
/// weight_hh, so that the reader and the layer's own next step are served together.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/cells.hpp"
#include "tensor/ops/attention_decoder_stack.hpp"
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
std::vector<Tensor> passing_weights(const std::vector<RecurrentWeights>& weights,
                                    const Tensor& top_readers);

template <class T>
class GpuStackForward {
 public:
  /// `top` [steps + 1, batch, readers + gates * hidden] gets the products of all top states.
  GpuStackForward(const std::vector<RecurrentWeights>& weights, const StackMemory& memory,
                  const Tensor& top_readers, const Tensor& top);

  std::size_t count() const { return layers_.size(); }
  /// The step of a layer. `a` is the product of its input, null for a layer above the lowest.
  gpu::CellStep<T> cell(std::size_t layer, std::int64_t time, Rows<const T> a = {}) const;
  /// The product of the state in `slot`: `time` is before a step, `time + 1` after it.
  void pass(std::size_t layer, std::int64_t slot) const;
  /// What the readers of the top state see of it.
  Rows<const T> read(std::int64_t slot) const;

 private:
  struct Layer {
    Tensor weight;
    Tensor bias;
    Tensor product;  ///< [slots, batch, readers + gates * hidden]
    std::int64_t readers;
    const T* bias_data;
    T* product_data;
    T* gates;
    T* states;
    T* cells;  ///< null: GRU
  };
  T* product(const Layer& layer, std::int64_t slot) const;

  LayerShape shape_;
  std::vector<Layer> layers_;
};

template <class T>
class GpuStackBackward {
 public:
  /// d_state and d_cell [layers, batch, hidden] may be undefined.
  GpuStackBackward(const std::vector<RecurrentWeights>& weights, const StackMemory& memory,
                   const Tensor& top_readers, const Tensor& d_state, const Tensor& d_cell);

  std::size_t count() const { return layers_.size(); }
  /// The way back of a layer's step; d_out [batch, hidden] may be null.
  gpu::CellStepBackward<T> cell(std::size_t layer, std::int64_t time,
                                const T* d_out = nullptr) const;
  /// Adds what arrives at the products of a state to the gradient of that state.
  void pass(std::size_t layer, std::int64_t slot) const;
  /// Where the readers of the top state leave their gradients.
  Rows<T> d_read(std::int64_t slot) const;
  T* d_top_state() const { return layers_.back().d_state_data; }
  const T* d_input(std::int64_t time) const;

  // After all steps.
  Tensor d_states() const;
  Tensor d_cells() const;
  /// Of the lowest layer's input product, [steps * batch, gates * hidden].
  const Tensor& d_inputs() const { return d_inputs_; }
  /// d_read of the slots [first, first + steps), [steps * batch, readers].
  Tensor d_reads(std::int64_t first) const;
  /// Four gradients a layer from place `first` on, but for the lowest layer's weight_ih.
  /// Returns that of the top readers.
  Tensor weight_gradients(const Needs& needs, std::size_t first, Gradients& result) const;

 private:
  struct Layer {
    Tensor weight;
    Tensor d_product;  ///< [steps + 1, batch, readers + gates * hidden]
    Tensor d_state;
    Tensor d_cell;
    std::int64_t readers;
    T* d_product_data;
    T* d_state_data;
    T* d_cell_data;
    const T* gates;
    const T* states;
    const T* cells;
  };
  T* d_product(const Layer& layer, std::int64_t slot) const;

  LayerShape shape_;
  std::vector<LayerMemory> memory_;
  std::vector<Layer> layers_;
  Tensor d_inputs_;
  T* d_inputs_data_;
};

}  // namespace attn::op
