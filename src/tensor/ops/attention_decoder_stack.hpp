/// The recurrent layers of a decoder, stepped together: every layer sees the state that the one
/// below has just reached.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/ops/rnn_layer.hpp"
#include "tensor/ops/rnn_weight.hpp"

namespace attn::op {

/// What the layers keep for the way back.
struct StackMemory {
  LayerShape shape;
  std::vector<LayerMemory> layers;

  /// state and cell [layers, batch, hidden]; no cell: GRU.
  StackMemory(const LayerShape& layer, std::size_t count, const Tensor& state,
              const Tensor& cell);
  /// States after the last step, [layers, batch, hidden].
  Tensor last_states() const;
  Tensor last_cells() const;
};

template <class T>
class StackForward {
 public:
  StackForward(const std::vector<RecurrentWeights>& weights, const StackMemory& memory);

  const LayerForward<T>& bottom() const { return layers_.front(); }
  const LayerForward<T>& top() const { return layers_.back(); }
  /// The gates of the lowest layer hold the product of its input. `out` gets the top state.
  void step(std::int64_t time, std::int64_t first, std::int64_t rows, T* out,
            std::int64_t out_stride) const;

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
                const Tensor& d_state, const Tensor& d_cell);

  const LayerBackward<T>& bottom() const { return layers_.front(); }
  const LayerBackward<T>& top() const { return layers_.back(); }
  void step(std::int64_t time, std::int64_t first, std::int64_t rows, const T* d_out,
            std::int64_t d_out_stride) const;

  /// After all steps: those of the states before the first, [layers, batch, hidden].
  Tensor d_states() const;
  Tensor d_cells() const;
  /// The gradients of all weights, four a layer from place `first` on, which `products` will
  /// compute; the lowest layer's weight_ih is left to the caller.
  void weight_gradients(const Needs& needs, std::size_t first, Gradients& result,
                        ProductList<T>& products) const;

 private:
  LayerShape shape_;
  std::vector<LayerMemory> memory_;
  std::vector<LayerBackward<T>> layers_;
  std::vector<StepWeight<T>> inputs_;
};

}  // namespace attn::op
