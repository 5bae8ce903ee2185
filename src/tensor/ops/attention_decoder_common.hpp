/// What the decoders share: checks of their inputs, the embedded tokens' part of the input
/// product, and the lowest layer's weight cut into its parts.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/ops/attention_decoder_steps.hpp"
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
                       InputOrder order, Gradients& result, ProductList<T>& products) {
  const Matrix<const T> d_inputs = layers.bottom().d_inputs();
  const Matrix<const T> weight = matrix_of<T>(inputs.rnn[0].weight_ih);
  if (needs[DecoderInput::y]) {
    result[DecoderInput::y] = Tensor::empty(inputs.y.shape(), kDType<T>);
    products.add({.a = d_inputs,
                  .b = input_parts(weight, inputs.embedding(), order).embedding,
                  .c = mutable_matrix_of<T>(result[DecoderInput::y])});
  }
  if (needs[DecoderInput::rnn]) {
    result[DecoderInput::rnn] = Tensor::empty(inputs.rnn[0].weight_ih.shape(), kDType<T>);
    const Matrix<T> to = mutable_matrix_of<T>(result[DecoderInput::rnn]);
    products.add({.a = d_inputs,
                  .transpose_a = gemm::Transpose::yes,
                  .b = matrix_of<T>(inputs.y),
                  .c = input_parts(to, inputs.embedding(), order).embedding});
  }
  if (needs[DecoderInput::state]) result[DecoderInput::state] = layers.d_states();
  if (needs[DecoderInput::cell]) result[DecoderInput::cell] = layers.d_cells();
  if (needs[DecoderInput::keys]) result[DecoderInput::keys] = attention.d_keys(query_states);
  if (needs[DecoderInput::values]) result[DecoderInput::values] = attention.d_values();
  if (needs[DecoderInput::query])
    result[DecoderInput::query] = attention.d_query(query_states, products);
  if (needs[DecoderInput::score]) result[DecoderInput::score] = attention.d_score();
  layers.weight_gradients(needs, DecoderInput::rnn, result, products);
}

/// What Luong's decoder puts out and feeds back.
struct FedBack {
  InputFeeding feeding;
  std::int64_t first_feeding;  ///< the first step that is fed anything but zeros
  Tensor attentional;  ///< [1 + steps, batch, attentional]: what each step is fed, and the last

  FedBack(const DecoderInputs& in, InputFeeding input_feeding)
      : feeding(input_feeding),
        first_feeding(in.fed.defined() ? 0 : 1),
        attentional(Tensor::empty({in.steps() + 1, in.batch(), in.join.size(0)}, in.y.dtype(),
                                  in.y.device())) {
    const NoGrad off_the_tape;
    set_or_clear(attentional.select(0, 0), in.fed);
  }

  bool feeds(std::int64_t time) const {
    return feeding == InputFeeding::on && time >= first_feeding;
  }
  /// [batch, steps, attentional].
  Tensor outs() const {
    return attentional.slice(0, 1, attentional.size(0)).transpose(0, 1).clone();
  }
};

/// Puts a decoder on the tape: `backward(inputs, grads, needs)` has its gradients. Nobody may
/// write to the weights of its attention.
template <class Run>
void record_decoder(const char* name, const DecoderInputs& inputs, const Tensor& weights,
                    std::array<Tensor, 4>& results, const Run& backward) {
  record(name, inputs.flat(), results,
         [backward, saved = SavedDecoder(inputs), saved_weights = Saved(weights)](
             const Gradients& grads, const Needs& needs) {
           saved_weights.get();
           return backward(saved.get(), grads, needs);
         });
}

/// The decoders on the GPU: one op each, a few launches a step. Inputs as prepare() leaves
/// them, on the tape; results as those of the op, in the type of the inputs.
std::array<Tensor, 4> bahdanau_on_gpu(const DecoderInputs& inputs, InputOrder order);
std::array<Tensor, 4> luong_on_gpu(const DecoderInputs& inputs, InputFeeding feeding);

}  // namespace attn::op
