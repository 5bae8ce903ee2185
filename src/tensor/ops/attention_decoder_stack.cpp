#include "tensor/ops/attention_decoder_stack.hpp"

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
namespace {

using gemm::Transpose;

Tensor layer_of(const Tensor& states, std::size_t layer) {
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
                                         Transpose transpose, std::int64_t steps) {
  std::vector<StepWeight<T>> result;
  for (std::size_t layer = 1; layer < weights.size(); ++layer)
    result.emplace_back(matrix_of<T>(weights[layer].weight_ih), transpose, steps);
  return result;
}

}  // namespace

StackMemory::StackMemory(const LayerShape& layer, std::size_t count, const Tensor& state,
                         const Tensor& cell)
    : shape(layer) {
  const NoGrad off_the_tape;
  for (std::size_t i = 0; i < count; ++i) {
    layers.emplace_back(layer, state.dtype(), state.device());
    layers[i].start(layer, layer_of(state.detach(), i),
                    cell.defined() ? layer_of(cell.detach(), i) : Tensor());
  }
}

Tensor StackMemory::last_states() const {
  return stack_of(layers, [this](const LayerMemory& layer) {
    return layer.states.select(0, shape.last_slot());
  });
}
Tensor StackMemory::last_cells() const {
  return stack_of(layers, [this](const LayerMemory& layer) {
    return layer.cells.select(0, shape.last_slot());
  });
}

template <class T>
StackForward<T>::StackForward(const std::vector<RecurrentWeights>& weights,
                              const StackMemory& memory)
    : shape_(memory.shape),
      inputs_(upper_weights<T>(weights, Transpose::yes, memory.shape.steps)) {
  for (std::size_t layer = 0; layer < weights.size(); ++layer)
    layers_.emplace_back(shape_, weights[layer], memory.layers[layer], Tensor());
}

template <class T>
void StackForward<T>::step(std::int64_t time, std::int64_t first, std::int64_t rows, T* out,
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

template <class T>
StackBackward<T>::StackBackward(const std::vector<RecurrentWeights>& weights,
                                const StackMemory& memory, const Tensor& d_state,
                                const Tensor& d_cell)
    : shape_(memory.shape),
      memory_(memory.layers),
      inputs_(upper_weights<T>(weights, Transpose::no, memory.shape.steps)) {
  for (std::size_t layer = 0; layer < weights.size(); ++layer)
    layers_.emplace_back(shape_, weights[layer].weight_hh, memory.layers[layer], Tensor(),
                         layer_of(d_state, layer), layer_of(d_cell, layer));
}

template <class T>
void StackBackward<T>::step(std::int64_t time, std::int64_t first, std::int64_t rows,
                            const T* d_out, std::int64_t d_out_stride) const {
  for (std::size_t layer = layers_.size(); layer-- > 0;) {
    layers_[layer].step(time, first, rows, layer + 1 == layers_.size() ? d_out : nullptr,
                        d_out_stride);
    // What the layer read is what the one below had reached in this very step.
    if (layer > 0)
      inputs_[layer - 1].run(rows, layers_[layer].d_gates(time, first), shape_.d_gates_stride(),
                             layers_[layer - 1].d_state(first), shape_.hidden, Onto::add);
  }
}

template <class T>
Tensor StackBackward<T>::d_states() const {
  return stack_of(layers_, [](const LayerBackward<T>& layer) { return layer.d_state(); });
}
template <class T>
Tensor StackBackward<T>::d_cells() const {
  return stack_of(layers_, [](const LayerBackward<T>& layer) { return layer.d_cell(); });
}

template <class T>
void StackBackward<T>::weight_gradients(const Needs& needs, std::size_t first,
                                        Gradients& result, ProductList<T>& products) const {
  const std::int64_t rows = shape_.steps * shape_.batch;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    const std::size_t place = first + 4 * layer;
    if (layer > 0 && needs[place]) {
      result[place] = Tensor::empty({shape_.input_columns(), shape_.hidden}, kDType<T>);
      const Matrix<const T> below{memory_[layer - 1].states.template data<T>() +
                                      shape_.after(0) * shape_.batch * shape_.hidden,
                                  rows, shape_.hidden, shape_.hidden};
      products.add({.a = layers_[layer].d_inputs(),
                    .transpose_a = Transpose::yes,
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

template class StackForward<float>;
template class StackForward<double>;
template class StackBackward<float>;
template class StackBackward<double>;

}  // namespace attn::op
