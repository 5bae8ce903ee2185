/// The recurrent layers of a decoder, stepped together: every layer sees the state that the one
/// below has just reached.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/ops/rnn_layer.hpp"
#include "tensor/ops/rnn_weight.hpp"

namespace attn::op {

inline Tensor layer_of(const Tensor& states, std::size_t layer) {
  return states.defined() ? states.select(0, static_cast<std::int64_t>(layer)) : Tensor();
}

/// One tensor of each layer, side by side.
template <class Layer, class Part>
Tensor stack_of(const std::vector<Layer>& layers, const Part& part) {
  std::vector<Tensor> parts(layers.size());
  std::transform(layers.begin(), layers.end(), parts.begin(), part);
  return stack(parts, 0);
}

template <class T>
std::vector<StepWeight<T>> upper_weights(const std::vector<RecurrentWeights>& weights,
                                         gemm::Transpose transpose, std::int64_t steps) {
  std::vector<StepWeight<T>> result;
  for (std::size_t layer = 1; layer < weights.size(); ++layer)
    result.emplace_back(matrix_of<T>(weights[layer].weight_ih), transpose, steps);
  return result;
}

/// What the layers keep for the way back.
struct StackMemory {
  LayerShape shape;
  std::vector<LayerMemory> layers;

  /// state and cell [layers, batch, hidden]; no cell: GRU.
  StackMemory(const LayerShape& layer, std::size_t count, const Tensor& state,
              const Tensor& cell)
      : shape(layer) {
    const NoGrad off_the_tape;
    for (std::size_t i = 0; i < count; ++i)
      layers.emplace_back(layer, state.dtype(), state.device(), layer_of(state, i),
                          layer_of(cell, i));
  }
  /// States after the last step, [layers, batch, hidden].
  Tensor last_states() const {
    return stack_of(layers, [this](const LayerMemory& layer) {
      return layer.states.select(0, shape.last_slot());
    });
  }
  Tensor last_cells() const {
    return stack_of(layers, [this](const LayerMemory& layer) {
      return layer.cells.select(0, shape.last_slot());
    });
  }
};

template <class T>
class StackForward {
 public:
  StackForward(const std::vector<RecurrentWeights>& weights, const StackMemory& memory)
      : shape_(memory.shape),
        inputs_(upper_weights<T>(weights, gemm::Transpose::yes, memory.shape.steps)) {
    for (std::size_t layer = 0; layer < weights.size(); ++layer)
      layers_.emplace_back(shape_, weights[layer], memory.layers[layer], Tensor());
  }

  const LayerForward<T>& bottom() const { return layers_.front(); }
  const LayerForward<T>& top() const { return layers_.back(); }
  /// The gates of the lowest layer hold the product of its input. `out` gets the top state.
  void step(std::int64_t time, std::int64_t first, std::int64_t rows, T* out,
            std::int64_t out_stride) const {
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
      if (layer > 0)
        inputs_[layer - 1].run(rows, layers_[layer - 1].state_after(time, first), shape_.hidden,
                               layers_[layer].gates(time, first), shape_.kept_columns(),
                               Onto::replace);
      layers_[layer].step(time, first, rows, layer + 1 == layers_.size() ? out : nullptr,
                          out_stride);
    }
  }

 private:
  LayerShape shape_;
  std::vector<LayerForward<T>> layers_;
  std::vector<StepWeight<T>> inputs_;  ///< of every layer but the lowest
};

template <class T>
class StackBackward {
 public:
  /// d_state and d_cell [layers, batch, hidden] may be undefined.
  StackBackward(const std::vector<RecurrentWeights>& weights, const StackMemory& memory,
                const Tensor& d_state, const Tensor& d_cell)
      : shape_(memory.shape),
        memory_(memory.layers),
        inputs_(upper_weights<T>(weights, gemm::Transpose::no, memory.shape.steps)) {
    for (std::size_t layer = 0; layer < weights.size(); ++layer)
      layers_.emplace_back(shape_, weights[layer].weight_hh, memory.layers[layer], Tensor(),
                           layer_of(d_state, layer), layer_of(d_cell, layer));
  }

  const LayerBackward<T>& bottom() const { return layers_.front(); }
  const LayerBackward<T>& top() const { return layers_.back(); }
  void step(std::int64_t time, std::int64_t first, std::int64_t rows, const T* d_out,
            std::int64_t d_out_stride) const {
    for (std::size_t layer = layers_.size(); layer-- > 0;) {
      layers_[layer].step(time, first, rows, layer + 1 == layers_.size() ? d_out : nullptr,
                          d_out_stride);
      // What the layer read is what the one below had reached in this very step.
      if (layer > 0)
        inputs_[layer - 1].run(rows, layers_[layer].d_gates(time, first),
                               shape_.d_gates_stride(), layers_[layer - 1].d_state(first),
                               shape_.hidden, Onto::add);
    }
  }

  /// After all steps: those of the states before the first, [layers, batch, hidden].
  Tensor d_states() const {
    return stack_of(layers_, [](const LayerBackward<T>& layer) { return layer.d_state(); });
  }
  Tensor d_cells() const {
    return stack_of(layers_, [](const LayerBackward<T>& layer) { return layer.d_cell(); });
  }
  /// The gradients of all weights, four a layer from place `first` on, which `products` will
  /// compute; the lowest layer's weight_ih is left to the caller.
  void weight_gradients(const Needs& needs, std::size_t first, Gradients& result,
                        ProductList<T>& products) const {
    const std::int64_t rows = shape_.steps * shape_.batch;
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
      const std::size_t place = first + 4 * layer;
      if (layer > 0 && needs[place]) {
        result[place] = Tensor::empty({shape_.input_columns(), shape_.hidden}, kDType<T>);
        const Matrix<const T> below{memory_[layer - 1].states.template data<T>() +
                                        shape_.after(0) * shape_.batch * shape_.hidden,
                                    rows, shape_.hidden, shape_.hidden};
        products.add({.a = layers_[layer].d_inputs(),
                      .transpose_a = gemm::Transpose::yes,
                      .b = below,
                      .c = mutable_matrix_of<T>(result[place])});
      }
      if (needs[place + 1]) result[place + 1] = layers_[layer].d_weight_hh(products);
      if (!needs[place + 2] && !needs[place + 3]) continue;
      const auto bias = layers_[layer].d_bias();
      result[place + 2] = bias.ih;
      result[place + 3] = bias.hh;
    }
  }

 private:
  LayerShape shape_;
  std::vector<LayerMemory> memory_;
  std::vector<LayerBackward<T>> layers_;
  std::vector<StepWeight<T>> inputs_;
};

}  // namespace attn::op
