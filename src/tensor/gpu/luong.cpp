// Luong's decoder on the GPU. A step is one launch for the attention and what joins it, one
// product of what is fed back, and a cell and a product of its state for each layer.

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
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

constexpr const char* kWhere = "attn::luong_decode";
constexpr InputOrder kOrder = InputOrder::embedding_first;

/// The weights by their columns: what reads the context, and what reads the top state.
struct Readers {
  Tensor context;        ///< [attentional, value_dim]
  Tensor state;          ///< [key_dim + attentional, hidden]; no key_dim without a query weight
  std::int64_t queries;  ///< rows of `state` that make the query
  InputColumns input;    ///< of the lowest layer: for the embedding and what is fed

  explicit Readers(const DecoderInputs& in)
      : input(in.rnn[0].weight_ih, in.embedding(), kOrder) {
    const std::int64_t value_dim = in.join.size(1) - in.hidden();
    const Tensor& query = in.attention.query;
    context = in.join.slice(1, 0, value_dim);
    const Tensor join = in.join.slice(1, value_dim, in.join.size(1)).contiguous();
    state = query.defined() ? concat({query, join}, 0) : join;
    queries = query.defined() ? query.size(0) : 0;
  }
};

/// Everything the steps leave behind.
struct Memory {
  StackMemory layers;
  FedBack fed;
  Tensor top;      ///< [steps + 1, batch, queries + attentional + gates * hidden]
  Tensor weights;  ///< [batch, steps, source]
  Tensor pooled;   ///< of the source

  Memory(const DecoderInputs& in, const Readers& readers, InputFeeding feeding)
      : layers(in.layer(CellKind::lstm), in.rnn.size(), in.state, in.cell),
        fed(in, feeding),
        top(Tensor::empty(
            {in.steps() + 1, in.batch(), readers.state.size(0) + layers.shape.input_columns()},
            in.y.dtype(), Device::gpu)),
        weights(Tensor::empty({in.batch(), in.steps(), in.attention.keys.size(1)}, in.y.dtype(),
                              Device::gpu)) {}

  std::int64_t width() const { return fed.attentional.size(2); }
  /// What asked at a step: the top state after it, or its product with the query weight.
  template <class T>
  Rows<const T> query(std::int64_t time, const Readers& readers) const {
    const Tensor& from = readers.queries > 0 ? top : layers.layers.back().states;
    return {numbers<const T>(from) + (time + 1) * from.size(1) * from.size(2), from.size(2)};
  }
};

/// How what is fed back enters the lowest layer.
template <class T>
struct FedProduct {
  std::int64_t batch;
  Tensor weight;  ///< [gates * hidden, attentional], a slice of columns

  /// a [batch, gates * hidden] += fed weight^T.
  void forward(const T* fed, T* a) const {
    multiply_on_gpu(batch, fed, weight, gemm::Transpose::yes, a, T(1));
  }
  /// d_fed = d_a weight.
  void backward(const T* d_a, T* d_fed) const {
    multiply_on_gpu(batch, d_a, weight, gemm::Transpose::no, d_fed);
  }
};

template <class T>
void run_forward(const DecoderInputs& in, const Readers& readers, const GpuSource& source,
                 const Memory& memory) {
  const LayerShape& shape = memory.layers.shape;
  const std::int64_t columns = shape.input_columns();
  const std::int64_t width = memory.width();
  const Tensor inputs = multiplied(in.y.flatten(0, 1), readers.input.embedding.transpose(0, 1));
  T* a = numbers<T>(inputs);
  const FedProduct<T> fed{shape.batch, readers.input.other};
  const GpuStackForward<T> layers(in.rnn, memory.layers, readers.state, memory.top);
  T* weights = numbers<T>(memory.weights);
  T* attentional = numbers<T>(memory.fed.attentional);
  if (shape.steps > 0)
    for (std::size_t i = 0; i < layers.count(); ++i) layers.pass(i, 0);
  for (std::int64_t t = 0; t < shape.steps; ++t) {
    T* own = a + t * shape.batch * columns;
    if (memory.fed.feeds(t)) fed.forward(attentional + t * shape.batch * width, own);
    for (std::size_t i = 0; i < layers.count(); ++i) {
      gpu::lstm_step(layers.cell(i, t, {own, columns}));
      layers.pass(i, t + 1);
    }
    const Rows<const T> query = memory.query<T>(t, readers);
    gpu::attend_and_join<T>({.at = source.at<T>(),
                             .query = query.data,
                             .query_stride = query.stride,
                             .weights = weights + t * memory.weights.size(2),
                             .weights_stride = shape.steps * memory.weights.size(2)},
                            {.more = layers.read(t + 1).data + readers.queries,
                             .more_stride = layers.read(t + 1).stride,
                             .out = attentional + (t + 1) * shape.batch * width});
  }
}

/// What arrives: in the order of LuongResult.
struct Output {
  enum Place : std::size_t { attentional, weights, state, cell };
};

/// Returns what reaches `fed`, [batch, attentional].
template <class T>
Tensor steps_back(const Memory& memory, const Readers& readers,
                  const GpuStackBackward<T>& layers, const GpuAttentionBackward<T>& attention,
                  const Tensor& d_attentional) {
  const LayerShape& shape = memory.layers.shape;
  const std::int64_t width = memory.width();
  const std::int64_t size = shape.batch * width;
  const FedProduct<T> fed{shape.batch, readers.input.other};
  const Tensor d_fed = Tensor::zeros({shape.batch, width}, kDType<T>, Device::gpu);
  T* d_fed_data = numbers<T>(d_fed);
  const T* attentional = numbers<const T>(memory.fed.attentional);
  const T* d_out = numbers_or_null<T>(d_attentional);
  for (std::int64_t t = shape.steps; t-- > 0;) {
    const Rows<T> d_read = layers.d_read(t + 1);
    const bool projected = readers.queries > 0;
    gpu::attend_and_join_backward(
        attention.step(t, memory.query<T>(t, readers),
                       projected ? d_read : Rows<T>{layers.d_top_state(), shape.hidden},
                       projected ? gpu::Arrive::replace : gpu::Arrive::add),
        gpu::JoinStepBackward<T>{
            .out = attentional + (t + 1) * size,
            .d_out = d_out == nullptr ? nullptr : d_out + t * size,
            .d_more = t + 1 < shape.steps && memory.fed.feeds(t + 1) ? d_fed_data : nullptr,
            .d_sum = d_read.data + readers.queries,
            .d_sum_stride = d_read.stride});
    for (std::size_t i = layers.count(); i-- > 0;) {
      layers.pass(i, t + 1);
      gpu::lstm_step_backward(layers.cell(i, t));
    }
    if (memory.fed.feeds(t)) fed.backward(layers.d_input(t), d_fed_data);
  }
  if (shape.steps > 0)
    for (std::size_t i = 0; i < layers.count(); ++i) layers.pass(i, 0);
  return d_fed;
}

template <class T>
Gradients run_backward(const DecoderInputs& in, const Memory& memory, const Gradients& grads,
                       const Needs& needs) {
  const LayerShape& shape = memory.layers.shape;
  const Readers readers(in);
  const GpuSource source(in.attention, readers.context, memory.pooled);
  const GpuStackBackward<T> layers(in.rnn, memory.layers, readers.state, grads[Output::state],
                                   grads[Output::cell]);
  const GpuAttentionBackward<T> attention(source, memory.weights, grads[Output::weights], {});
  const Tensor& d_out = grads[Output::attentional];
  Gradients down(needs.size());
  const Tensor d_fed =
      steps_back(memory, readers, layers, attention,
                 d_out.defined() ? d_out.transpose(0, 1).contiguous() : Tensor());
  down[DecoderInput::fed] = d_fed;

  const Tensor& d_inputs = layers.d_inputs();
  const Tensor d_sums = layers.d_reads(1).slice(1, readers.queries, readers.state.size(0));
  decoder_gradients_gpu(in, needs, readers.input, layers, attention,
                        memory.query<T>(0, readers), d_sums, down);
  if (needs[DecoderInput::rnn]) {
    const Tensor turned = d_inputs.transpose(0, 1);
    Tensor of_input = multiplied(turned, in.y.flatten(0, 1));
    if (memory.fed.feeding == InputFeeding::on) {
      const Tensor fed = memory.fed.attentional.slice(0, 0, shape.steps).flatten(0, 1);
      of_input = concat({of_input, multiplied(turned, fed)}, 1);
    }
    down[DecoderInput::rnn] = of_input;
  }
  const Tensor of_readers = layers.weight_gradients(needs, DecoderInput::rnn, down);
  if (readers.queries > 0) down[DecoderInput::query] = of_readers.slice(0, 0, readers.queries);
  if (needs[DecoderInput::join]) {
    const Tensor contexts = source.contexts(memory.weights).transpose(0, 1).flatten(0, 1);
    down[DecoderInput::join] =
        concat({multiplied(d_sums.transpose(0, 1), contexts),
                of_readers.slice(0, readers.queries, of_readers.size(0))},
               1);
  }
  return down;
}

}  // namespace

std::array<Tensor, 4> luong_on_gpu(const DecoderInputs& inputs, InputFeeding feeding) {
  const DType dtype = inputs.y.dtype();
  const auto run = [&] {
    const NoGrad off_the_tape;
    const Readers readers(inputs);
    const GpuSource source(inputs.attention, readers.context);
    Memory memory(inputs, readers, feeding);
    memory.pooled = source.pooled;
    dispatch_real(dtype, kWhere, [&](auto type) {
      run_forward<decltype(type)>(inputs, readers, source, memory);
    });
    return memory;
  };
  const Memory memory = run();
  // Handles of their own: the tape hangs on them, and what is saved must not hang on the tape.
  std::array<Tensor, 4> results{memory.fed.outs(), memory.weights.detach(),
                                memory.layers.last_states(), memory.layers.last_cells()};
  record_decoder(
      "luong_decode", inputs, memory.weights, results,
      [memory, dtype](const DecoderInputs& in, const Gradients& grads, const Needs& needs) {
        return dispatch_real(dtype, kWhere, [&]<class T>(T) {
          return run_backward<T>(in, memory, grads, needs);
        });
      });
  return results;
}

}  // namespace attn::op
