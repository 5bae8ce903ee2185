/// The attention of a decoder's steps: one query a row, and its way back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/tensor.hpp"
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

  AttentionMemory(const AttentionInputs& inputs, std::int64_t steps);
};

template <class T>
class AttentionSteps {
 public:
  AttentionSteps(const AttentionInputs& inputs, const AttentionMemory& memory);

  T* context(std::int64_t time, std::int64_t row) const {
    return contexts_ + (time * batch_ + row) * value_dim_;
  }
  /// `state` [rows, hidden] asks.
  void step(std::int64_t time, std::int64_t first, std::int64_t rows, const T* state) const;

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
                         const Tensor& d_weights, const Tensor& d_contexts);

  /// Where the gradient of a step's context is collected; holds what came from outside.
  T* d_context(std::int64_t time, std::int64_t row) const {
    return d_contexts_data_ + (time * batch_ + row) * value_dim_;
  }
  /// Adds to d_state [rows, hidden]; `state` is the one that asked.
  void step(std::int64_t time, std::int64_t first, std::int64_t rows, const T* state,
            T* d_state) const;

  // After all steps. `states` [steps * batch, hidden] are those that asked.
  Tensor d_keys(Matrix<const T> states) const;
  Tensor d_values() const;
  Tensor d_query(Matrix<const T> states, ProductList<T>& products) const;
  Tensor d_score() const;

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
