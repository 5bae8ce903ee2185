/// The steps of a decoder and their way back: its attention, one query a row, and its recurrent
/// layers, each of which sees the state that the one below has just reached.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
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
#include "tensor/cpu/cells_table.hpp"
#include "tensor/ops/rnn_layer.hpp"
#include "tensor/ops/rnn_weight.hpp"

namespace attn::op {

/// What attention reads, packed. No query weight: the state is the query. No score vector: the
/// score is a dot product.
struct AttentionInputs {
  Tensor keys;     ///< [batch, source, key_dim]
  Tensor values;   ///< [batch, source, value_dim]
  Tensor lengths;  ///< i64 [batch], or none
  Tensor query;    ///< [key_dim, hidden], or none
  Tensor score;    ///< [key_dim], or none
};

/// What it keeps for the way back.
struct AttentionMemory {
  Tensor queries;   ///< [steps, batch, key_dim]; none without a query weight
  Tensor weights;   ///< [batch, steps, source]
  Tensor contexts;  ///< [steps, batch, value_dim]

  AttentionMemory(const AttentionInputs& inputs, std::int64_t steps) {
    const DType dtype = inputs.keys.dtype();
    const std::int64_t batch = inputs.keys.size(0);
    if (inputs.query.defined())
      queries = Tensor::empty({steps, batch, inputs.keys.size(2)}, dtype);
    weights = Tensor::empty({batch, steps, inputs.keys.size(1)}, dtype);
    contexts = Tensor::empty({steps, batch, inputs.values.size(2)}, dtype);
  }
};

/// One step of rows [first, first + rows): everything but the queries and the results.
template <class T>
cpu::AttentionForward<T> attention_rows(const AttentionInputs& inputs, std::int64_t first,
                                        std::int64_t rows) {
  const std::int64_t source = inputs.keys.size(1);
  cpu::AttentionForward<T> step{.rows = rows,
                                .keys_count = source,
                                .key_dim = inputs.keys.size(2),
                                .value_dim = inputs.values.size(2)};
  if (inputs.lengths.defined()) step.lengths = inputs.lengths.data<std::int64_t>() + first;
  if (inputs.score.defined()) step.vector = inputs.score.data<T>();
  step.keys = inputs.keys.data<T>() + first * source * step.key_dim;
  step.values = inputs.values.data<T>() + first * source * step.value_dim;
  return step;
}

/// C_b = A_b^T B_b for each row b of the batch: A [batch, steps, m] lies batch-major, B
/// [steps, batch, n] time-major.
template <class T>
Tensor transposed_products(const Tensor& a, const T* b, std::int64_t n) {
  const std::int64_t batch = a.size(0);
  const std::int64_t steps = a.size(1);
  const std::int64_t m = a.size(2);
  if (steps == 0) return Tensor::zeros({batch, m, n}, kDType<T>);
  Tensor result = Tensor::empty({batch, m, n}, kDType<T>);
  if (result.numel() == 0) return result;
  gemm::product(gemm::Args<T>{.m = m,
                              .n = n,
                              .k = steps,
                              .a = a.data<T>(),
                              .lda = m,
                              .transpose_a = gemm::Transpose::yes,
                              .b = b,
                              .ldb = batch * n,
                              .c = result.mutable_data<T>(),
                              .ldc = n,
                              .batch = batch,
                              .a_stride = steps * m,
                              .b_stride = n,
                              .c_stride = m * n});
  return result;
}

/// [batch, steps, n] as [steps, batch, n], a copy to write to; or zeros.
inline Tensor time_major_copy(const Tensor& x, const Tensor& like) {
  if (!x.defined()) return Tensor::zeros(like.shape(), like.dtype());
  return x.transpose(0, 1).clone();
}

template <class T>
class AttentionSteps {
 public:
  AttentionSteps(const AttentionInputs& inputs, const AttentionMemory& memory)
      : inputs_(inputs),
        batch_(memory.weights.size(0)),
        steps_(memory.weights.size(1)),
        value_dim_(memory.contexts.size(2)),
        weights_(memory.weights.mutable_data<T>()),
        contexts_(memory.contexts.mutable_data<T>()) {
    if (!inputs.query.defined()) return;
    project_ = StepWeight<T>(matrix_of<T>(inputs.query), gemm::Transpose::yes, steps_);
    queries_ = memory.queries.mutable_data<T>();
  }

  T* context(std::int64_t time, std::int64_t row) const {
    return contexts_ + (time * batch_ + row) * value_dim_;
  }
  /// `state` [rows, hidden] asks.
  void step(std::int64_t time, std::int64_t first, std::int64_t rows, const T* state) const {
    cpu::AttentionForward<T> step = attention_rows<T>(inputs_, first, rows);
    step.query = state;
    if (queries_ != nullptr) {
      T* query = queries_ + (time * batch_ + first) * step.key_dim;
      project_.run(rows, state, inputs_.query.size(1), query, step.key_dim, Onto::replace);
      step.query = query;
    }
    step.weights = weights_ + (first * steps_ + time) * step.keys_count;
    step.weights_stride = steps_ * step.keys_count;
    step.context = context(time, first);
    cpu::cell_table<T>().attention_forward(step);
  }

 private:
  AttentionInputs inputs_;
  StepWeight<T> project_;
  std::int64_t batch_;
  std::int64_t steps_;
  std::int64_t value_dim_;
  T* queries_ = nullptr;
  T* weights_ = nullptr;
  T* contexts_ = nullptr;
};

template <class T>
class AttentionStepsBackward {
 public:
  /// `d_weights` [batch, steps, source] and `d_contexts` [batch, steps, value_dim] are what
  /// arrives from outside; both may be undefined.
  AttentionStepsBackward(const AttentionInputs& inputs, const AttentionMemory& memory,
                         const Tensor& d_weights, const Tensor& d_contexts)
      : inputs_(inputs),
        memory_(memory),
        batch_(memory.weights.size(0)),
        steps_(memory.weights.size(1)),
        source_(memory.weights.size(2)),
        key_dim_(inputs.keys.size(2)),
        value_dim_(memory.contexts.size(2)),
        d_weights_(d_weights.defined() ? d_weights.contiguous() : Tensor()),
        d_contexts_(time_major_copy(d_contexts, memory.contexts)),
        d_scores_(Tensor::empty(memory.weights.shape(), kDType<T>)),
        d_queries_(Tensor::empty({steps_, batch_, key_dim_}, kDType<T>)),
        d_contexts_data_(d_contexts_.mutable_data<T>()),
        d_scores_data_(d_scores_.mutable_data<T>()),
        d_queries_data_(d_queries_.mutable_data<T>()) {
    if (inputs.query.defined())
      project_ = StepWeight<T>(matrix_of<T>(inputs.query), gemm::Transpose::no, steps_);
    if (!inputs.score.defined()) return;
    d_keys_ = Tensor::zeros(inputs.keys.shape(), kDType<T>);
    d_vectors_ = Tensor::zeros({batch_, key_dim_}, kDType<T>);
    d_keys_data_ = d_keys_.mutable_data<T>();
    d_vectors_data_ = d_vectors_.mutable_data<T>();
  }

  /// Where the gradient of a step's context is collected; holds what came from outside.
  T* d_context(std::int64_t time, std::int64_t row) const {
    return d_contexts_data_ + (time * batch_ + row) * value_dim_;
  }
  /// Adds to d_state [rows, hidden]; `state` is the one that asked.
  void step(std::int64_t time, std::int64_t first, std::int64_t rows, const T* state,
            T* d_state) const {
    const std::int64_t at = (first * steps_ + time) * source_;
    const std::int64_t row = time * batch_ + first;
    cpu::AttentionBackward<T> step{.forward = attention_rows<T>(inputs_, first, rows)};
    const bool projected = inputs_.query.defined();
    step.forward.query =
        projected ? memory_.queries.template data<T>() + row * key_dim_ : state;
    step.weights = memory_.weights.template data<T>() + at;
    step.forward.weights_stride = steps_ * source_;
    step.d_context = d_context(time, first);
    if (d_weights_.defined()) step.d_weights = d_weights_.template data<T>() + at;
    step.d_scores = d_scores_data_ + at;
    T* d_query = d_queries_data_ + row * key_dim_;
    step.d_query = d_query;
    if (inputs_.score.defined()) {
      step.d_keys = d_keys_data_ + first * source_ * key_dim_;
      step.d_vector = d_vectors_data_ + first * key_dim_;
    }
    cpu::cell_table<T>().attention_backward(step);
    if (projected) {
      project_.run(rows, d_query, key_dim_, d_state, inputs_.query.size(1), Onto::add);
    } else {
      for (std::int64_t i = 0; i < rows * key_dim_; ++i) d_state[i] += d_query[i];
    }
  }

  // After all steps. `states` [steps * batch, hidden] are those that asked.
  Tensor d_keys(Matrix<const T> states) const {
    if (d_keys_.defined()) return d_keys_;
    const T* queries =
        memory_.queries.defined() ? memory_.queries.template data<T>() : states.data;
    return transposed_products<T>(d_scores_, queries, key_dim_);
  }
  Tensor d_values() const {
    return transposed_products<T>(memory_.weights, d_contexts_data_, value_dim_);
  }
  Tensor d_query(Matrix<const T> states, ProductList<T>& products) const {
    const Tensor result = Tensor::empty(inputs_.query.shape(), kDType<T>);
    products.add({.a = {d_queries_data_, steps_ * batch_, key_dim_, key_dim_},
                  .transpose_a = gemm::Transpose::yes,
                  .b = states,
                  .c = mutable_matrix_of<T>(result)});
    return result;
  }
  Tensor d_score() const { return sum(d_vectors_, 0); }

 private:
  AttentionInputs inputs_;
  AttentionMemory memory_;
  StepWeight<T> project_;
  std::int64_t batch_;
  std::int64_t steps_;
  std::int64_t source_;
  std::int64_t key_dim_;
  std::int64_t value_dim_;
  Tensor d_weights_;
  Tensor d_contexts_;  ///< [steps, batch, value_dim]
  Tensor d_scores_;    ///< [batch, steps, source]
  Tensor d_queries_;   ///< [steps, batch, key_dim]
  Tensor d_keys_;      ///< additive
  Tensor d_vectors_;   ///< additive: [batch, key_dim]
  T* d_contexts_data_ = nullptr;
  T* d_scores_data_ = nullptr;
  T* d_queries_data_ = nullptr;
  T* d_keys_data_ = nullptr;
  T* d_vectors_data_ = nullptr;
};

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
