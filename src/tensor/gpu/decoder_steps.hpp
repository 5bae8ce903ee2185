/// The steps of a decoder on the GPU, in memory as attention_decoder_steps.hpp has it: its
/// recurrent layers, and what its attention shares. A layer's state passes one product a step:
/// the weight of whoever reads it lies above weight_hh, so that the reader and the layer's own
/// next step are served together.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/gemm/gpu.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/steps.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/attention_decoder_common.hpp"
#include "tensor/ops/attention_decoder_steps.hpp"
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

/// The columns of the lowest layer's weight for the embedding, and for what else it reads.
struct InputColumns {
  Tensor embedding;
  Tensor other;

  InputColumns(const Tensor& weight, std::int64_t embedding_columns, InputOrder order) {
    const std::int64_t all = weight.size(1);
    const bool first = order == InputOrder::embedding_first;
    const std::int64_t cut = first ? embedding_columns : all - embedding_columns;
    const Tensor left = weight.slice(1, 0, cut);
    const Tensor right = weight.slice(1, cut, all);
    embedding = first ? left : right;
    other = first ? right : left;
  }
};

/// The source of a decoder: its values have passed `reader` [columns, value_dim].
struct GpuSource {
  AttentionInputs in;
  Tensor reader;
  Tensor pooled;   ///< [batch, source, columns]
  Tensor lengths;  ///< on the GPU, or none

  /// `earlier` is the `pooled` of an earlier one; none: it is computed.
  GpuSource(const AttentionInputs& inputs, const Tensor& context_reader,
            const Tensor& earlier = {})
      : in(inputs),
        reader(context_reader.detach()),
        pooled(earlier.defined()
                   ? earlier
                   : multiplied(in.values.detach().flatten(0, 1), reader.transpose(0, 1))
                         .reshape({in.values.size(0), in.values.size(1), reader.size(0)})) {
    if (in.lengths.defined()) lengths = in.lengths.to(Device::gpu).contiguous();
  }

  template <class T>
  gpu::AttentionSource<T> at() const {
    return {.rows = in.keys.size(0),
            .keys_count = in.keys.size(1),
            .key_dim = in.keys.size(2),
            .columns = pooled.size(2),
            .lengths = numbers_or_null<std::int64_t>(lengths),
            .keys = numbers<const T>(in.keys),
            .pooled = numbers<const T>(pooled),
            .score = numbers_or_null<T>(in.score)};
  }
  /// Contexts of weights [batch, steps, source]: [batch, steps, value_dim].
  Tensor contexts(const Tensor& weights) const {
    return multiplied(weights, in.values.detach());
  }
};

/// The backward of all steps.
template <class T>
class GpuAttentionBackward {
 public:
  /// weights [batch, steps, source]; d_weights and d_contexts [batch, steps, ...] are what
  /// arrives from outside, and may be undefined.
  GpuAttentionBackward(const GpuSource& source, const Tensor& weights, const Tensor& d_weights,
                       const Tensor& d_contexts)
      : source_(source),
        at_(source.at<T>()),
        weights_(weights),
        d_weights_(d_weights.defined() ? d_weights.contiguous() : Tensor()),
        d_contexts_(d_contexts),
        d_scores_(Tensor::empty(weights.shape(), kDType<T>, Device::gpu)),
        steps_(weights.size(1)) {
    if (!d_contexts_.defined()) return;
    const Tensor more = multiplied(d_contexts_, source_.in.values.transpose(1, 2));
    d_weights_ = d_weights_.defined() ? add(d_weights_, more) : more;
  }

  /// A step, whose query was `query` and gets its gradient at `d_query`.
  gpu::AttentionStepBackward<T> step(std::int64_t time, Rows<const T> query, Rows<T> d_query,
                                     gpu::Arrive arrive) const {
    const std::int64_t first = time * at_.keys_count;
    const T* d_weights = numbers_or_null<T>(d_weights_);
    return {.at = at_,
            .query = query.data,
            .query_stride = query.stride,
            .weights = numbers<const T>(weights_) + first,
            .weights_stride = steps_ * at_.keys_count,
            .d_weights = d_weights == nullptr ? nullptr : d_weights + first,
            .d_scores = numbers<T>(d_scores_) + first,
            .d_query = d_query.data,
            .d_query_stride = d_query.stride,
            .arrive = arrive};
  }

  /// After all steps, from queries [steps, batch, key_dim]: those of the keys and of w.
  struct OfKeys {
    Tensor keys;
    Tensor score;  ///< none without w
  };
  OfKeys of_keys(Rows<const T> queries) const {
    const Tensor& keys = source_.in.keys;
    if (steps_ == 0)
      return {Tensor::zeros(keys.shape(), kDType<T>, Device::gpu),
              source_.in.score.defined()
                  ? Tensor::zeros(source_.in.score.shape(), kDType<T>, Device::gpu)
                  : Tensor()};
    const Tensor d_keys = Tensor::empty(keys.shape(), kDType<T>, Device::gpu);
    if (source_.in.score.defined()) {
      const Tensor d_score = Tensor::empty(keys.shape(), kDType<T>, Device::gpu);
      gpu::attention_keys_backward<T>({.at = at_,
                                       .steps = steps_,
                                       .queries = queries.data,
                                       .query_stride = queries.stride,
                                       .d_scores = numbers<const T>(d_scores_),
                                       .d_keys = numbers<T>(d_keys),
                                       .d_score = numbers<T>(d_score)});
      return {d_keys, sum(d_score.flatten(0, 1), 0)};
    }
    gemm::product_on_gpu<T>({.m = at_.keys_count,
                             .n = at_.key_dim,
                             .k = steps_,
                             .a = numbers<const T>(d_scores_),
                             .lda = at_.keys_count,
                             .transpose_a = gemm::Transpose::yes,
                             .b = queries.data,
                             .ldb = at_.rows * queries.stride,
                             .c = numbers<T>(d_keys),
                             .ldc = at_.key_dim,
                             .batch = at_.rows,
                             .a_stride = steps_ * at_.keys_count,
                             .b_stride = queries.stride,
                             .c_stride = at_.keys_count * at_.key_dim},
                            {}, gpu::stream(), gpu::products());
    return {d_keys, {}};
  }
  /// d_read [steps * batch, columns] is what arrived at the pooled columns.
  Tensor d_values(const Tensor& d_read) const {
    Tensor d_contexts = multiplied(d_read, source_.reader)
                            .reshape({steps_, at_.rows, source_.in.values.size(2)})
                            .transpose(0, 1);
    if (d_contexts_.defined()) d_contexts = add(d_contexts, d_contexts_);
    return multiplied(weights_.transpose(1, 2), d_contexts);
  }

 private:
  GpuSource source_;
  gpu::AttentionSource<T> at_;
  Tensor weights_;
  Tensor d_weights_;
  Tensor d_contexts_;
  Tensor d_scores_;
  std::int64_t steps_;
};

/// The gradients of y, the states and the source. `queries` are those of all steps, d_read as
/// in d_values().
template <class T>
void decoder_gradients_gpu(const DecoderInputs& in, const Needs& needs,
                           const InputColumns& columns, const GpuStackBackward<T>& layers,
                           const GpuAttentionBackward<T>& attention, Rows<const T> queries,
                           const Tensor& d_read, Gradients& down) {
  if (needs[DecoderInput::y])
    down[DecoderInput::y] =
        multiplied(layers.d_inputs(), columns.embedding).reshape(in.y.shape());
  if (needs[DecoderInput::state]) down[DecoderInput::state] = layers.d_states();
  if (needs[DecoderInput::cell]) down[DecoderInput::cell] = layers.d_cells();
  if (needs[DecoderInput::keys] || needs[DecoderInput::score]) {
    const auto of_keys = attention.of_keys(queries);
    down[DecoderInput::keys] = of_keys.keys;
    down[DecoderInput::score] = of_keys.score;
  }
  if (needs[DecoderInput::values]) down[DecoderInput::values] = attention.d_values(d_read);
}

}  // namespace attn::op
