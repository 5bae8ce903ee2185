// Luong's decoder as one op: attention after each step of an LSTM, and its backward.

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/cells_table.hpp"
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

constexpr const char* kWhere = "attn::luong_decode";
constexpr InputOrder kOrder = InputOrder::embedding_first;

/// Everything the steps leave behind.
struct Memory {
  op::StackMemory layers;
  op::AttentionMemory attention;
  op::FedBack fed;

  Memory(const DecoderInputs& inputs, InputFeeding feeding)
      : layers(inputs.layer(op::CellKind::lstm), inputs.rnn.size(), inputs.state, inputs.cell),
        attention(inputs.attention, inputs.steps()),
        fed(inputs, feeding) {}

  /// The top states after each step, [steps * batch, hidden].
  template <class T>
  Matrix<const T> top_states() const {
    const op::LayerShape& shape = layers.shape;
    return {layers.layers.back().states.template data<T>() +
                shape.after(0) * shape.batch * shape.hidden,
            shape.steps * shape.batch, shape.hidden, shape.hidden};
  }
};

/// The columns of W_c for the context and for the state.
template <class M>
struct JoinParts {
  M context;
  M state;
};
template <class T>
JoinParts<Matrix<T>> join_parts(Matrix<T> join, std::int64_t hidden) {
  const std::int64_t context = join.columns - hidden;
  return {join.columns_from(0, context), join.columns_from(context, hidden)};
}

template <class T>
void run_forward(const DecoderInputs& inputs, const Memory& memory) {
  const op::LayerShape& shape = memory.layers.shape;
  const std::int64_t steps = shape.steps;
  const std::int64_t width = memory.fed.attentional.size(2);
  const auto parts =
      op::input_parts(op::matrix_of<T>(inputs.rnn[0].weight_ih), inputs.embedding(), kOrder);
  const auto join = join_parts(op::matrix_of<T>(inputs.join), shape.hidden);
  const op::StackForward<T> layers(inputs.rnn, memory.layers);
  const op::AttentionSteps<T> attention(inputs.attention, memory.attention);
  const op::StepWeight<T> feed(parts.other, Transpose::yes, steps);
  const op::StepWeight<T> join_context(join.context, Transpose::yes, steps);
  const op::StepWeight<T> join_state(join.state, Transpose::yes, steps);
  op::multiply<T>({.a = op::matrix_of<T>(inputs.y),
                   .b = parts.embedding,
                   .transpose_b = Transpose::yes,
                   .c = {layers.bottom().gates(0, 0), steps * shape.batch,
                         shape.input_columns(), shape.kept_columns()}});

  T* attentional = memory.fed.attentional.mutable_data<T>();
  op::in_row_blocks(shape.batch, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t t = 0; t < steps; ++t) {
      const T* fed = attentional + (t * shape.batch + first) * width;
      T* out = attentional + ((t + 1) * shape.batch + first) * width;
      if (memory.fed.feeds(t))
        feed.run(rows, fed, width, layers.bottom().gates(t, first), shape.kept_columns(),
                 Onto::add);
      layers.step(t, first, rows, nullptr, 0);
      const T* state = layers.top().state_after(t, first);
      attention.step(t, first, rows, state);
      join_context.run(rows, attention.context(t, first), join.context.columns, out, width,
                       Onto::replace);
      join_state.run(rows, state, shape.hidden, out, width, Onto::add);
      cpu::cell_table<T>().tanh_forward(out, rows * width);
    }
  });
}

/// What arrives: in the order of LuongResult.
struct Output {
  enum Place : std::size_t { attentional, weights, state, cell };
};

/// What the steps from the last to the first need and leave.
template <class T>
struct StepsBackward {
  const Memory& memory;
  op::StackBackward<T> layers;
  op::AttentionStepsBackward<T> attention;
  op::StepWeight<T> to_context;
  op::StepWeight<T> to_state;
  op::StepWeight<T> to_fed;
  Matrix<const T> query_states;  ///< the states that asked: those after each step
  const T* attentional;          ///< [1 + steps, batch, width]
  const T* d_attentional;        ///< [batch, steps, width], or null
  T* d_sums;                     ///< [steps, batch, width], of what tanh was taken of
  T* d_fed;                      ///< [batch, width], from the step after
  std::int64_t width;

  void step(std::int64_t t, std::int64_t first, std::int64_t rows) const;
};

template <class T>
void StepsBackward<T>::step(std::int64_t t, std::int64_t first, std::int64_t rows) const {
  const op::LayerShape& shape = memory.layers.shape;
  const std::int64_t row = t * shape.batch + first;
  T* d_sum = d_sums + row * width;
  T* d_state = layers.top().d_state(first);
  const bool fed = t + 1 < shape.steps && memory.fed.feeds(t + 1);
  const std::int64_t arrived = (first * shape.steps + t) * width;
  cpu::cell_table<T>().tanh_backward(
      {.rows = rows,
       .columns = width,
       .out = attentional + (row + shape.batch) * width,
       .d_out = d_attentional == nullptr ? nullptr : d_attentional + arrived,
       .d_out_stride = shape.steps * width,
       .d_more = fed ? d_fed + first * width : nullptr,
       .d_x = d_sum});
  to_context.run(rows, d_sum, width, attention.d_context(t, first),
                 memory.attention.contexts.size(2), Onto::replace);
  to_state.run(rows, d_sum, width, d_state, shape.hidden, Onto::add);
  attention.step(t, first, rows, query_states.data + row * shape.hidden, d_state);
  layers.step(t, first, rows, nullptr, 0);
  if (memory.fed.feeds(t))
    to_fed.run(rows, layers.bottom().d_gates(t, first), shape.d_gates_stride(),
               d_fed + first * width, width, Onto::replace);
}

/// The gradients of W_c and of the fed columns of the lowest weight_ih: one product each.
template <class T>
void join_gradients(const DecoderInputs& inputs, const StepsBackward<T>& steps,
                    const Needs& needs, Gradients& result, op::ProductList<T>& products) {
  const Memory& memory = steps.memory;
  const op::LayerShape& shape = memory.layers.shape;
  const std::int64_t rows = shape.steps * shape.batch;
  if (needs[op::DecoderInput::join]) {
    result[op::DecoderInput::join] = Tensor::empty(inputs.join.shape(), kDType<T>);
    const auto to =
        join_parts(op::mutable_matrix_of<T>(result[op::DecoderInput::join]), shape.hidden);
    const Matrix<const T> d_sums{steps.d_sums, rows, steps.width, steps.width};
    products.add({.a = d_sums,
                  .transpose_a = Transpose::yes,
                  .b = op::matrix_of<T>(memory.attention.contexts),
                  .c = to.context});
    products.add(
        {.a = d_sums, .transpose_a = Transpose::yes, .b = steps.query_states, .c = to.state});
  }
  if (!needs[op::DecoderInput::rnn] || memory.fed.feeding == InputFeeding::off) return;
  const auto to = op::input_parts(op::mutable_matrix_of<T>(result[op::DecoderInput::rnn]),
                                  inputs.embedding(), kOrder);
  products.add({.a = steps.layers.bottom().d_inputs(),
                .transpose_a = Transpose::yes,
                .b = {steps.attentional, rows, steps.width, steps.width},
                .c = to.other});
}

template <class T>
Gradients run_backward(const DecoderInputs& inputs, const Memory& memory,
                       const Gradients& grads, const Needs& needs) {
  const op::LayerShape& shape = memory.layers.shape;
  const auto parts =
      op::input_parts(op::matrix_of<T>(inputs.rnn[0].weight_ih), inputs.embedding(), kOrder);
  const auto join = join_parts(op::matrix_of<T>(inputs.join), shape.hidden);
  const std::int64_t width = memory.fed.attentional.size(2);
  const Tensor d_sums = Tensor::empty({shape.steps, shape.batch, width}, kDType<T>);
  const Tensor d_fed = Tensor::zeros({shape.batch, width}, kDType<T>);
  const Tensor d_out =
      grads[Output::attentional].defined() ? grads[Output::attentional].contiguous() : Tensor();
  const StepsBackward<T> steps{
      .memory = memory,
      .layers = {inputs.rnn, memory.layers, grads[Output::state], grads[Output::cell]},
      .attention = {inputs.attention, memory.attention, grads[Output::weights], {}},
      .to_context = {join.context, Transpose::no, shape.steps},
      .to_state = {join.state, Transpose::no, shape.steps},
      .to_fed = {parts.other, Transpose::no, shape.steps},
      .query_states = memory.top_states<T>(),
      .attentional = memory.fed.attentional.data<T>(),
      .d_attentional = op::numbers_or_null<T>(d_out),
      .d_sums = d_sums.mutable_data<T>(),
      .d_fed = d_fed.mutable_data<T>(),
      .width = width};
  op::in_row_blocks(shape.batch, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t t = shape.steps; t-- > 0;) steps.step(t, first, rows);
  });

  Gradients result(needs.size());
  op::ProductList<T> products;
  op::decoder_gradients<T>(inputs, needs, steps.layers, steps.attention, steps.query_states,
                           kOrder, result, products);
  join_gradients(inputs, steps, needs, result, products);
  products.run();
  result[op::DecoderInput::fed] = d_fed;
  return result;
}

template <class T>
std::array<Tensor, 4> on_cpu(const DecoderInputs& inputs, InputFeeding feeding) {
  const Memory memory(inputs, feeding);
  run_forward<T>(inputs, memory);
  // Handles of their own: the tape hangs on them, and what is saved must not hang on the tape.
  std::array<Tensor, 4> results{memory.fed.outs(), memory.attention.weights.detach(),
                                memory.layers.last_states(), memory.layers.last_cells()};
  op::record_decoder(
      "luong_decode", inputs, memory.attention.weights, results,
      [memory](const DecoderInputs& in, const Gradients& grads, const Needs& needs) {
        return run_backward<T>(in, memory, grads, needs);
      });
  return results;
}

DecoderInputs checked(const Tensor& y, const DecoderSource& source, const Tensor& state,
                      const Tensor& cell, const LuongWeights& weights, const Tensor& fed) {
  const DecoderInputs given{.y = op::in_time(y, kWhere),
                            .state = state,
                            .cell = cell,
                            .fed = fed,
                            .attention = {.keys = source.keys,
                                          .values = source.values,
                                          .lengths = source.lengths,
                                          .query = weights.query,
                                          .score = weights.score},
                            .rnn = weights.rnn,
                            .join = weights.join};
  op::require_real(source.values, kWhere, "values");
  op::require_same_kind(y, weights.join, kWhere);
  if (weights.join.rank() != 2)
    fail(kWhere, ": join is ", weights.join.text(),
         "; [attentional, value_dim + hidden] is accepted");
  const std::int64_t width = weights.join.size(0);
  op::check_decoder(op::CellKind::lstm, given, weights.feeding == InputFeeding::on ? width : 0,
                    kWhere);
  op::require_shape(weights.join, {width, source.values.size(2) + given.hidden()}, kWhere,
                    "join");
  if (!fed.defined()) return given;
  if (weights.feeding == InputFeeding::off)
    fail(kWhere, ": fed is ", fed.text(), "; none is accepted without input feeding");
  op::require_shape(fed, {given.batch(), width}, kWhere, "fed");
  op::require_same_kind(y, fed, kWhere);
  return given;
}

}  // namespace

LuongResult luong_decode(const Tensor& y, const DecoderSource& source, const Tensor& state,
                         const Tensor& cell, const LuongWeights& weights, const Tensor& fed) {
  const DecoderInputs inputs = op::prepare(checked(y, source, state, cell, weights, fed));
  const auto results = op::dispatch_device_and_real(
      inputs.y, kWhere, [&]<class T>(T) { return on_cpu<T>(inputs, weights.feeding); },
      [&] { return op::luong_on_gpu(inputs, weights.feeding); });
  return {results[Output::attentional].to(y.dtype()), results[Output::weights].to(y.dtype()),
          results[Output::state].to(y.dtype()), results[Output::cell].to(y.dtype())};
}

}  // namespace attn
