#include "tensor/ops/decoder_stack_gpu.hpp"

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
#include "tensor/gpu/cells.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/attention_decoder_stack.hpp"
#include "tensor/ops/multiplied.hpp"
#include "tensor/ops/rnn_layer.hpp"

namespace attn::op {
namespace {

Tensor copy_or_zeros(const Tensor& x, std::size_t layer, const LayerShape& shape, DType dtype) {
  if (x.defined()) return x.select(0, static_cast<std::int64_t>(layer)).clone().contiguous();
  return Tensor::zeros({shape.batch, shape.hidden}, dtype, Device::gpu);
}

template <class Layer>
Tensor stacked(const std::vector<Layer>& layers, Tensor Layer::* part) {
  std::vector<Tensor> all;
  all.reserve(layers.size());
  for (const Layer& layer : layers) all.push_back(layer.*part);
  return stack(all, 0);
}

}  // namespace

std::vector<Tensor> passing_weights(const std::vector<RecurrentWeights>& weights,
                                    const Tensor& top_readers) {
  const NoGrad off_the_tape;
  std::vector<Tensor> all;
  for (std::size_t layer = 0; layer < weights.size(); ++layer) {
    const Tensor& readers =
        layer + 1 < weights.size() ? weights[layer + 1].weight_ih : top_readers;
    all.push_back(readers.defined() ? concat({readers, weights[layer].weight_hh}, 0)
                                    : weights[layer].weight_hh.contiguous());
  }
  return all;
}

template <class T>
GpuStackForward<T>::GpuStackForward(const std::vector<RecurrentWeights>& weights,
                                    const StackMemory& memory, const Tensor& top_readers,
                                    const Tensor& top)
    : shape_(memory.shape) {
  const std::vector<Tensor> passing = passing_weights(weights, top_readers);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    Layer layer{};
    layer.weight = passing[i];
    layer.bias = kept_bias(shape_, weights[i]).contiguous();
    layer.readers = layer.weight.size(0) - shape_.input_columns();
    layer.product =
        i + 1 == weights.size()
            ? top
            : Tensor::empty({1, shape_.batch, layer.weight.size(0)}, kDType<T>, Device::gpu);
    layer.bias_data = numbers<const T>(layer.bias);
    layer.product_data = numbers<T>(layer.product);
    layer.gates = numbers<T>(memory.layers[i].gates);
    layer.states = numbers<T>(memory.layers[i].states);
    layer.cells =
        memory.layers[i].cells.defined() ? numbers<T>(memory.layers[i].cells) : nullptr;
    layers_.push_back(layer);
  }
}

template <class T>
T* GpuStackForward<T>::product(const Layer& layer, std::int64_t slot) const {
  const std::int64_t kept = layer.product.size(0);
  return layer.product_data + slot % kept * shape_.batch * layer.weight.size(0);
}

template <class T>
gpu::CellStep<T> GpuStackForward<T>::cell(std::size_t layer, std::int64_t time,
                                          Rows<const T> a) const {
  const Layer& own = layers_[layer];
  if (layer > 0) a = {product(layers_[layer - 1], time + 1), layers_[layer - 1].weight.size(0)};
  const std::int64_t size = shape_.batch * shape_.hidden;
  const std::int64_t before = shape_.before(time) * size;
  const std::int64_t after = shape_.after(time) * size;
  return {.rows = {shape_.batch, shape_.hidden, time, nullptr},
          .a = a.data,
          .a_stride = a.stride,
          .u = product(own, time) + own.readers,
          .u_stride = own.weight.size(0),
          .bias = own.bias_data,
          .before = own.states + before,
          .cell_before = own.cells == nullptr ? nullptr : own.cells + before,
          .gates = own.gates + time * shape_.batch * shape_.kept_columns(),
          .after = own.states + after,
          .cell_after = own.cells == nullptr ? nullptr : own.cells + after,
          .out = nullptr};
}

template <class T>
void GpuStackForward<T>::pass(std::size_t layer, std::int64_t slot) const {
  const Layer& own = layers_[layer];
  multiply_on_gpu<T>(shape_.batch, own.states + slot * shape_.batch * shape_.hidden, own.weight,
                     gemm::Transpose::yes, product(own, slot));
}

template <class T>
Rows<const T> GpuStackForward<T>::read(std::int64_t slot) const {
  return {product(layers_.back(), slot), layers_.back().weight.size(0)};
}

template <class T>
GpuStackBackward<T>::GpuStackBackward(const std::vector<RecurrentWeights>& weights,
                                      const StackMemory& memory, const Tensor& top_readers,
                                      const Tensor& d_state, const Tensor& d_cell)
    : shape_(memory.shape),
      memory_(memory.layers),
      d_inputs_(Tensor::empty({shape_.steps * shape_.batch, shape_.input_columns()}, kDType<T>,
                              Device::gpu)),
      d_inputs_data_(numbers<T>(d_inputs_)) {
  const std::vector<Tensor> passing = passing_weights(weights, top_readers);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const LayerMemory& kept = memory_[i];
    Layer layer{};
    layer.weight = passing[i];
    layer.readers = layer.weight.size(0) - shape_.input_columns();
    layer.d_product = Tensor::empty({shape_.steps + 1, shape_.batch, layer.weight.size(0)},
                                    kDType<T>, Device::gpu);
    // The first state is read by no layer above, the last one by no later step.
    layer.d_product.select(0, 0).fill(0.0);
    layer.d_product.select(0, shape_.steps).fill(0.0);
    layer.d_state = copy_or_zeros(d_state, i, shape_, kDType<T>);
    layer.d_product_data = numbers<T>(layer.d_product);
    layer.d_state_data = numbers<T>(layer.d_state);
    layer.gates = numbers<const T>(kept.gates);
    layer.states = numbers<const T>(kept.states);
    if (kept.cells.defined()) {
      layer.d_cell = copy_or_zeros(d_cell, i, shape_, kDType<T>);
      layer.d_cell_data = numbers<T>(layer.d_cell);
      layer.cells = numbers<const T>(kept.cells);
    }
    layers_.push_back(layer);
  }
}

template <class T>
T* GpuStackBackward<T>::d_product(const Layer& layer, std::int64_t slot) const {
  return layer.d_product_data + slot * shape_.batch * layer.weight.size(0);
}

template <class T>
const T* GpuStackBackward<T>::d_input(std::int64_t time) const {
  return d_inputs_data_ + time * shape_.batch * shape_.input_columns();
}

template <class T>
gpu::CellStepBackward<T> GpuStackBackward<T>::cell(std::size_t layer, std::int64_t time,
                                                   const T* d_out) const {
  const Layer& own = layers_[layer];
  const std::int64_t size = shape_.batch * shape_.hidden;
  const std::int64_t before = shape_.before(time) * size;
  Rows<T> d_a{d_inputs_data_ + time * shape_.batch * shape_.input_columns(),
              shape_.input_columns()};
  if (layer > 0)
    d_a = {d_product(layers_[layer - 1], time + 1), layers_[layer - 1].weight.size(0)};
  return {.rows = {shape_.batch, shape_.hidden, time, nullptr},
          .gates = own.gates + time * shape_.batch * shape_.kept_columns(),
          .before = own.states + before,
          .cell_before = own.cells == nullptr ? nullptr : own.cells + before,
          .cell_after = own.cells == nullptr ? nullptr : own.cells + shape_.after(time) * size,
          .d_out = d_out,
          .d_state = own.d_state_data,
          .d_cell = own.d_cell_data,
          .d_a = d_a.data,
          .d_a_stride = d_a.stride,
          .d_u = d_product(own, time) + own.readers,
          .d_u_stride = own.weight.size(0)};
}

template <class T>
void GpuStackBackward<T>::pass(std::size_t layer, std::int64_t slot) const {
  const Layer& own = layers_[layer];
  multiply_on_gpu<T>(shape_.batch, d_product(own, slot), own.weight, gemm::Transpose::no,
                     own.d_state_data, T(1));
}

template <class T>
Rows<T> GpuStackBackward<T>::d_read(std::int64_t slot) const {
  return {d_product(layers_.back(), slot), layers_.back().weight.size(0)};
}

template <class T>
Tensor GpuStackBackward<T>::d_states() const {
  return stacked(layers_, &Layer::d_state);
}
template <class T>
Tensor GpuStackBackward<T>::d_cells() const {
  return stacked(layers_, &Layer::d_cell);
}

template <class T>
Tensor GpuStackBackward<T>::d_reads(std::int64_t first) const {
  const Layer& top = layers_.back();
  return top.d_product.slice(0, first, first + shape_.steps)
      .reshape({shape_.steps * shape_.batch, top.weight.size(0)})
      .slice(1, 0, top.readers);
}

template <class T>
Tensor GpuStackBackward<T>::weight_gradients(const Needs& needs, std::size_t first,
                                             Gradients& result) const {
  const std::int64_t rows = (shape_.steps + 1) * shape_.batch;
  const auto wants_bias = [&](std::size_t layer) {
    return needs[first + 4 * layer + 2] || needs[first + 4 * layer + 3];
  };
  if (wants_bias(0)) result[first + 2] = sum(d_inputs_, 0);
  Tensor of_readers;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& own = layers_[i];
    const Tensor slopes = own.d_product.reshape({rows, own.weight.size(0)});
    const Tensor states = memory_[i].states.reshape({rows, shape_.hidden});
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

template class GpuStackForward<float>;
template class GpuStackForward<double>;
template class GpuStackBackward<float>;
template class GpuStackBackward<double>;

}  // namespace attn::op
