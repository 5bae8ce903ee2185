/// What the decoders share: checks of their inputs, the embedded tokens' part of the input
/// product, and the lowest layer's weight cut into its parts.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/ops/attention_decoder_attention.hpp"
#include "tensor/ops/attention_decoder_stack.hpp"
#include "tensor/ops/rnn_layer.hpp"
#include "tensor/ops/rnn_weight.hpp"

namespace attn::op {

/// The inputs of either decoder; what one of them lacks is undefined.
struct DecoderInputs {
  Tensor y;          ///< [steps, batch, embedding]: time-major, unlike what users pass
  Tensor state;      ///< [layers, batch, hidden]
  Tensor cell = {};  ///< LSTM
  Tensor fed = {};   ///< [batch, attentional], what the step before put out, or none
  AttentionInputs attention;
  std::vector<RecurrentWeights> rnn;
  Tensor join = {};

  std::int64_t steps() const { return y.size(0); }
  std::int64_t batch() const { return y.size(1); }
  std::int64_t embedding() const { return y.size(2); }
  std::int64_t hidden() const { return rnn.front().weight_hh.size(1); }
  LayerShape layer(CellKind kind) const;
  /// In the order of DecoderInput, then four for each layer.
  std::vector<Tensor> flat() const;
};

/// Places in the list of inputs, and of their gradients.
struct DecoderInput {
  enum Place : std::size_t { y, state, cell, fed, keys, values, query, score, join, rnn };
};

/// [batch, steps, embedding] as a view in the order of time; throws if it is something else.
Tensor in_time(const Tensor& y, const char* where);
/// Throws unless everything fits. `more` is what the lowest layer reads beside the embedding.
void check_decoder(CellKind kind, const DecoderInputs& inputs, std::int64_t more,
                   const char* where);

/// The same, packed and in a type that is computed in.
DecoderInputs prepare(const DecoderInputs& inputs);

/// The inputs, kept for the way back.
class SavedDecoder {
 public:
  explicit SavedDecoder(const DecoderInputs& inputs);
  DecoderInputs get() const;

 private:
  std::vector<Saved> flat_;
  Saved lengths_;
};

/// The columns of the lowest layer's weight_ih that belong to the embedding and to what else
/// it reads.
template <class M>
struct InputParts {
  M embedding;
  M other;
};
template <class T>
InputParts<Matrix<T>> input_parts(Matrix<T> weight, std::int64_t embedding, InputOrder order) {
  const std::int64_t other = weight.columns - embedding;
  const bool first = order == InputOrder::embedding_first;
  return {weight.columns_from(first ? 0 : other, embedding),
          weight.columns_from(first ? embedding : 0, other)};
}

/// The gradients of all inputs after the last step back, but for `join` and for the columns of
/// the lowest weight_ih that belong to what is read beside the embedding: those are left to the
/// caller, who also runs the products. `asked` [steps * batch, hidden] are the states that
/// asked.
template <class T>
void decoder_gradients(const DecoderInputs& inputs, const Needs& needs,
                       const StackBackward<T>& layers,
                       const AttentionStepsBackward<T>& attention, Matrix<const T> query_states,
                       InputOrder order, Gradients& result, ProductList<T>& products);

}  // namespace attn::op
