/// The attention of a decoder's steps: one query a row, and its way back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/cells_table.hpp"
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

}  // namespace attn::op
