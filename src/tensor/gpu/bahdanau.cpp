// Bahdanau's decoder on the GPU. A step is one launch for the attention and the lowest layer's
// cell, and for each layer a product of its state and, above the lowest, a cell.

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/decoder_steps.hpp"
#include "tensor/gpu/steps.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/attention_decoder_common.hpp"
#include "tensor/ops/attention_decoder_steps.hpp"
#include "tensor/ops/multiplied.hpp"
#include "tensor/ops/rnn_layer.hpp"

namespace attn::op {

namespace {

constexpr const char* kWhere = "attn::bahdanau_decode";

/// Everything the steps leave behind.
struct Memory {
  StackMemory layers;
  InputOrder order;
  Tensor top;      ///< [steps + 1, batch, key_dim + gates * hidden]: queries and more
  Tensor weights;  ///< [batch, steps, source]
  Tensor pooled;   ///< of the source

  Memory(const DecoderInputs& in, InputOrder input_order)
      : layers(in.layer(CellKind::gru), in.rnn.size(), in.state, {}),
        order(input_order),
        top(Tensor::empty({in.steps() + 1, in.batch(),
                           in.attention.query.size(0) + layers.shape.input_columns()},
                          in.y.dtype(), Device::gpu)),
        weights(Tensor::empty({in.batch(), in.steps(), in.attention.keys.size(1)}, in.y.dtype(),
                              Device::gpu)) {}

  template <class T>
  Rows<const T> query(std::int64_t time) const {
    return {numbers<const T>(top) + time * top.size(1) * top.size(2), top.size(2)};
  }
};

template <class T>
void run_forward(const DecoderInputs& in, const GpuSource& source, const Memory& memory) {
  const LayerShape& shape = memory.layers.shape;
  const InputColumns columns(in.rnn[0].weight_ih, in.embedding(), memory.order);
  const Tensor embedded = multiplied(in.y.flatten(0, 1), columns.embedding.transpose(0, 1));
  const T* a = numbers<const T>(embedded);
  const GpuStackForward<T> layers(in.rnn, memory.layers, in.attention.query, memory.top);
  T* weights = numbers<T>(memory.weights);
  gpu::AttentionStep<T> attention{.at = source.at<T>(),
                                  .query = nullptr,
                                  .query_stride = memory.top.size(2),
                                  .weights = nullptr,
                                  .weights_stride = shape.steps * memory.weights.size(2)};
  if (shape.steps > 0)
    for (std::size_t i = 0; i < layers.count(); ++i) layers.pass(i, 0);
  for (std::int64_t t = 0; t < shape.steps; ++t) {
    attention.query = layers.read(t).data;
    attention.weights = weights + t * memory.weights.size(2);
    gpu::attend_and_gru(attention, layers.cell(0, t,
                                               {a + t * shape.batch * shape.input_columns(),
                                                shape.input_columns()}));
    for (std::size_t i = 0; i < layers.count(); ++i) {
      if (i > 0) gpu::gru_step(layers.cell(i, t));
      // Nobody asks after the last step.
      if (i + 1 < layers.count() || t + 1 < shape.steps) layers.pass(i, t + 1);
    }
  }
}

/// What arrives: in the order of BahdanauResult.
struct Output {
  enum Place : std::size_t { states, weights, contexts, state };
};

template <class T>
void steps_back(const Memory& memory, const GpuStackBackward<T>& layers,
                const GpuAttentionBackward<T>& attention, const Tensor& d_states) {
  const LayerShape& shape = memory.layers.shape;
  const std::size_t top = layers.count() - 1;
  const T* d_out = numbers_or_null<T>(d_states);
  for (std::int64_t t = shape.steps; t-- > 0;) {
    const auto cell = [&](std::size_t i) {
      return layers.cell(
          i, t, i < top || d_out == nullptr ? nullptr : d_out + t * shape.batch * shape.hidden);
    };
    for (std::size_t i = top; i > 0; --i) {
      gpu::gru_step_backward(cell(i));
      layers.pass(i - 1, t + 1);
    }
    gpu::attend_and_gru_backward(
        attention.step(t, memory.query<T>(t), layers.d_read(t), gpu::Arrive::replace), cell(0));
    layers.pass(top, t);
  }
  if (shape.steps > 0)
    for (std::size_t i = 0; i < top; ++i) layers.pass(i, 0);
}

template <class T>
Gradients run_backward(const DecoderInputs& in, const Memory& memory, const Gradients& grads,
                       const Needs& needs) {
  const InputColumns parts(in.rnn[0].weight_ih, in.embedding(), memory.order);
  const GpuSource source(in.attention, parts.other, memory.pooled);
  const GpuStackBackward<T> layers(in.rnn, memory.layers, in.attention.query,
                                   grads[Output::state], {});
  const GpuAttentionBackward<T> attention(source, memory.weights, grads[Output::weights],
                                          grads[Output::contexts]);
  const Tensor& d_states = grads[Output::states];
  steps_back(memory, layers, attention,
             d_states.defined() ? d_states.transpose(0, 1).contiguous() : Tensor());

  Gradients down(needs.size());
  decoder_gradients_gpu(in, needs, parts, layers, attention, memory.query<T>(0),
                        layers.d_inputs(), down);
  if (needs[DecoderInput::rnn]) {
    const Tensor transposed = layers.d_inputs().transpose(0, 1);
    const Tensor contexts = source.contexts(memory.weights).transpose(0, 1).flatten(0, 1);
    const Tensor embedding = multiplied(transposed, in.y.flatten(0, 1));
    const Tensor other = multiplied(transposed, contexts);
    down[DecoderInput::rnn] = memory.order == InputOrder::embedding_first
                                  ? concat({embedding, other}, 1)
                                  : concat({other, embedding}, 1);
  }
  down[DecoderInput::query] = layers.weight_gradients(needs, DecoderInput::rnn, down);
  return down;
}

}  // namespace

std::array<Tensor, 4> bahdanau_on_gpu(const DecoderInputs& inputs, InputOrder order) {
  const DType dtype = inputs.y.dtype();
  Memory memory(inputs, order);
  std::array<Tensor, 4> results;
  {
    const NoGrad off_the_tape;
    const InputColumns columns(inputs.rnn[0].weight_ih, inputs.embedding(), order);
    const GpuSource source(inputs.attention, columns.other);
    memory.pooled = source.pooled;
    dispatch_real(dtype, kWhere,
                  [&](auto type) { run_forward<decltype(type)>(inputs, source, memory); });
    const Tensor& states = memory.layers.layers.back().states;
    // Handles of their own: the tape hangs on them, and what is saved must not hang on the
    // tape.
    results = {states.slice(0, 1, states.size(0)).transpose(0, 1).clone(),
               memory.weights.detach(), source.contexts(memory.weights),
               memory.layers.last_states()};
  }
  record_decoder(
      "bahdanau_decode", inputs, memory.weights, results,
      [memory, dtype](const DecoderInputs& in, const Gradients& grads, const Needs& needs) {
        return dispatch_real(dtype, kWhere, [&]<class T>(T) {
          return run_backward<T>(in, memory, grads, needs);
        });
      });
  return results;
}

}  // namespace attn::op
