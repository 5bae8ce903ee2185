// Bahdanau's decoder as one op: attention before each step of a GRU, and its backward.

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/attention_decoder_common.hpp"
#include "tensor/ops/attention_decoder_steps.hpp"
#include "tensor/ops/rnn_layer.hpp"
#include "tensor/ops/rnn_weight.hpp"

namespace attn {
namespace {

using gemm::Transpose;
using op::DecoderInputs;
using op::Matrix;
using op::Onto;

constexpr const char* kWhere = "attn::bahdanau_decode";

/// Everything the steps leave behind.
struct Memory {
  op::StackMemory layers;
  op::AttentionMemory attention;
  InputOrder order;

  Memory(const DecoderInputs& inputs, InputOrder input_order)
      : layers(inputs.layer(op::CellKind::gru), inputs.rnn.size(), inputs.state, {}),
        attention(inputs.attention, inputs.steps()),
        order(input_order) {}
};

template <class T>
Tensor run_forward(const DecoderInputs& inputs, const Memory& memory) {
  const op::LayerShape& shape = memory.layers.shape;
  const std::int64_t steps = shape.steps;
  const auto parts = op::input_parts(op::matrix_of<T>(inputs.rnn[0].weight_ih),
                                     inputs.embedding(), memory.order);
  const op::StackForward<T> layers(inputs.rnn, memory.layers);
  const op::AttentionSteps<T> attention(inputs.attention, memory.attention);
  const op::StepWeight<T> from_context(parts.other, Transpose::yes, steps);
  op::multiply<T>({.a = op::matrix_of<T>(inputs.y),
                   .b = parts.embedding,
                   .transpose_b = Transpose::yes,
                   .c = {layers.bottom().gates(0, 0), steps * shape.batch,
                         shape.input_columns(), shape.kept_columns()}});

  const Tensor out = Tensor::empty({shape.batch, steps, shape.hidden}, kDType<T>);
  T* states = out.mutable_data<T>();
  op::in_row_blocks(shape.batch, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t t = 0; t < steps; ++t) {
      attention.step(t, first, rows, layers.top().state_before(t, first));
      from_context.run(rows, attention.context(t, first), parts.other.columns,
                       layers.bottom().gates(t, first), shape.kept_columns(), Onto::add);
      layers.step(t, first, rows, states + (first * steps + t) * shape.hidden,
                  steps * shape.hidden);
    }
  });
  return out;
}

/// What arrives: in the order of BahdanauResult.
struct Output {
  enum Place : std::size_t { states, weights, contexts, state };
};

template <class T>
Gradients run_backward(const DecoderInputs& inputs, const Memory& memory,
                       const Gradients& grads, const Needs& needs) {
  const op::LayerShape& shape = memory.layers.shape;
  const std::int64_t steps = shape.steps;
  const auto parts = op::input_parts(op::matrix_of<T>(inputs.rnn[0].weight_ih),
                                     inputs.embedding(), memory.order);
  const op::StackBackward<T> layers(inputs.rnn, memory.layers, grads[Output::state], {});
  const op::AttentionStepsBackward<T> attention(
      inputs.attention, memory.attention, grads[Output::weights], grads[Output::contexts]);
  const op::StepWeight<T> to_context(parts.other, Transpose::no, steps);
  const Tensor d_states =
      grads[Output::states].defined() ? grads[Output::states].contiguous() : Tensor();
  const T* d_out = op::numbers_or_null<T>(d_states);
  // The states that asked: those before each step.
  const Matrix<const T> query_states{memory.layers.layers.back().states.data<T>(),
                                     steps * shape.batch, shape.hidden, shape.hidden};

  op::in_row_blocks(shape.batch, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t t = steps; t-- > 0;) {
      layers.step(t, first, rows,
                  d_out == nullptr ? nullptr : d_out + (first * steps + t) * shape.hidden,
                  steps * shape.hidden);
      to_context.run(rows, layers.bottom().d_gates(t, first), shape.d_gates_stride(),
                     attention.d_context(t, first), parts.other.columns, Onto::add);
      attention.step(t, first, rows,
                     query_states.data + (t * shape.batch + first) * shape.hidden,
                     layers.top().d_state(first));
    }
  });

  Gradients result(needs.size());
  op::ProductList<T> products;
  op::decoder_gradients<T>(inputs, needs, layers, attention, query_states, memory.order, result,
                           products);
  if (needs[op::DecoderInput::rnn]) {
    const auto to = op::input_parts(op::mutable_matrix_of<T>(result[op::DecoderInput::rnn]),
                                    inputs.embedding(), memory.order);
    products.add({.a = layers.bottom().d_inputs(),
                  .transpose_a = Transpose::yes,
                  .b = op::matrix_of<T>(memory.attention.contexts),
                  .c = to.other});
  }
  products.run();
  return result;
}

template <class T>
std::array<Tensor, 4> on_cpu(const DecoderInputs& inputs, InputOrder order) {
  const Memory memory(inputs, order);
  const Tensor states = run_forward<T>(inputs, memory);
  // Handles of their own: the tape hangs on them, and what is saved must not hang on the tape.
  std::array<Tensor, 4> results{states, memory.attention.weights.detach(),
                                memory.attention.contexts.transpose(0, 1).clone(),
                                memory.layers.last_states()};
  op::record_decoder(
      "bahdanau_decode", inputs, memory.attention.weights, results,
      [memory](const DecoderInputs& in, const Gradients& grads, const Needs& needs) {
        return run_backward<T>(in, memory, grads, needs);
      });
  return results;
}

}  // namespace

BahdanauResult bahdanau_decode(const Tensor& y, const DecoderSource& source,
                               const Tensor& state, const BahdanauWeights& weights) {
  const DecoderInputs given{.y = op::in_time(y, kWhere),
                            .state = state,
                            .attention = {.keys = source.keys,
                                          .values = source.values,
                                          .lengths = source.lengths,
                                          .query = weights.query,
                                          .score = weights.score},
                            .rnn = weights.rnn};
  op::require_real(source.values, kWhere, "values");
  op::require_real(weights.query, kWhere, "the query weight");
  op::require_real(weights.score, kWhere, "the score vector");
  op::check_decoder(op::CellKind::gru, given, source.values.size(-1), kWhere);
  const DecoderInputs inputs = op::prepare(given);
  const auto results = op::dispatch_device_and_real(
      inputs.y, kWhere, [&]<class T>(T) { return on_cpu<T>(inputs, weights.order); },
      [&] { return op::bahdanau_on_gpu(inputs, weights.order); });
  return {results[Output::states].to(y.dtype()), results[Output::weights].to(y.dtype()),
          results[Output::contexts].to(y.dtype()), results[Output::state].to(y.dtype())};
}

}  // namespace attn
