// One direction of one recurrent layer on the GPU: the products of all steps at once where they
// can be, and for each step one product and one launch of the cell.

#include "attn/tensor/ops/rnn.hpp"

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/steps.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/multiplied.hpp"
#include "tensor/ops/rnn_direction.hpp"
#include "tensor/ops/rnn_layer.hpp"

namespace attn::op {
namespace {

using gemm::Transpose;

gpu::CellRows rows_of(const LayerShape& shape, std::int64_t time, const Tensor& lengths) {
  return {shape.batch, shape.hidden, time, numbers_or_null<std::int64_t>(lengths)};
}

template <class T>
Tensor run_forward(const LayerShape& shape, const Tensor& x, const RecurrentWeights& weights,
                   const LayerMemory& memory, const Tensor& lengths) {
  const std::int64_t columns = shape.input_columns();
  const std::int64_t hidden = shape.hidden;
  const Tensor a = multiplied(x.flatten(0, 1), weights.weight_ih.transpose(0, 1));
  const Tensor u = Tensor::empty({shape.batch, columns}, kDType<T>, Device::gpu);
  const Tensor out = Tensor::empty({shape.steps, shape.batch, hidden}, kDType<T>, Device::gpu);
  const Tensor bias = kept_bias(shape, weights).contiguous();
  const bool is_lstm = shape.kind == CellKind::lstm;
  T* states = numbers<T>(memory.states);
  T* cells = is_lstm ? numbers<T>(memory.cells) : nullptr;
  const std::int64_t slot = shape.batch * hidden;
  for (std::int64_t step = 0; step < shape.steps; ++step) {
    const std::int64_t time = shape.time(step);
    const T* before = states + shape.before(time) * slot;
    multiply_on_gpu(shape.batch, before, weights.weight_hh, Transpose::yes, numbers<T>(u));
    const gpu::CellStep<T> cell{
        .rows = rows_of(shape, time, lengths),
        .a = numbers<const T>(a) + time * shape.batch * columns,
        .a_stride = columns,
        .u = numbers<const T>(u),
        .u_stride = columns,
        .bias = numbers<const T>(bias),
        .before = before,
        .cell_before = is_lstm ? cells + shape.before(time) * slot : nullptr,
        .gates = numbers<T>(memory.gates) + time * shape.batch * shape.kept_columns(),
        .after = states + shape.after(time) * slot,
        .cell_after = is_lstm ? cells + shape.after(time) * slot : nullptr,
        .out = numbers<T>(out) + time * slot};
    is_lstm ? gpu::lstm_step(cell) : gpu::gru_step(cell);
  }
  return out;
}

template <class T>
Gradients run_backward(const SavedLayer& saved, const Gradients& grads, const Needs& needs) {
  const LayerShape& shape = saved.shape;
  const std::int64_t columns = shape.input_columns();
  const std::int64_t hidden = shape.hidden;
  const std::int64_t slot = shape.batch * hidden;
  const bool is_lstm = shape.kind == CellKind::lstm;
  const Tensor d_out = grads[0].defined() ? grads[0].contiguous() : Tensor();
  const Tensor d_state = copy_or_zeros(grads[1], shape, kDType<T>, Device::gpu);
  const Tensor d_cell =
      is_lstm ? copy_or_zeros(grads[2], shape, kDType<T>, Device::gpu) : Tensor();
  const auto room = [&] {
    return Tensor::empty({shape.steps * shape.batch, columns}, kDType<T>, Device::gpu);
  };
  const Tensor d_a = room();
  const Tensor d_u = is_lstm ? d_a : room();
  const T* states = numbers<const T>(saved.memory.states);
  const T* cells = is_lstm ? numbers<const T>(saved.memory.cells) : nullptr;
  for (std::int64_t step = shape.steps; step-- > 0;) {
    const std::int64_t time = shape.time(step);
    const std::int64_t at = time * shape.batch * columns;
    const gpu::CellStepBackward<T> cell{
        .rows = rows_of(shape, time, saved.lengths.get()),
        .gates =
            numbers<const T>(saved.memory.gates) + time * shape.batch * shape.kept_columns(),
        .before = states + shape.before(time) * slot,
        .cell_before = is_lstm ? cells + shape.before(time) * slot : nullptr,
        .cell_after = is_lstm ? cells + shape.after(time) * slot : nullptr,
        .d_out = d_out.defined() ? numbers<const T>(d_out) + time * slot : nullptr,
        .d_state = numbers<T>(d_state),
        .d_cell = is_lstm ? numbers<T>(d_cell) : nullptr,
        .d_a = numbers<T>(d_a) + at,
        .d_a_stride = columns,
        .d_u = numbers<T>(d_u) + at,
        .d_u_stride = columns};
    is_lstm ? gpu::lstm_step_backward(cell) : gpu::gru_step_backward(cell);
    // What comes through the gates, onto what passed them by.
    multiply_on_gpu(shape.batch, numbers<const T>(d_u) + at, saved.weight_hh.get(),
                    Transpose::no, numbers<T>(d_state), T(1));
  }

  Gradients down(LayerInput::count);
  const Tensor& x = saved.x.get();
  const Tensor before =
      saved.memory.states.slice(0, shape.before(0), shape.before(0) + shape.steps);
  if (needs[LayerInput::x])
    down[LayerInput::x] = multiplied(d_a, saved.weight_ih.get()).reshape(x.shape());
  if (needs[LayerInput::weight_ih])
    down[LayerInput::weight_ih] = multiplied(d_a.transpose(0, 1), x.flatten(0, 1));
  if (needs[LayerInput::weight_hh])
    down[LayerInput::weight_hh] = multiplied(d_u.transpose(0, 1), before.flatten(0, 1));
  if (needs[LayerInput::bias_ih]) down[LayerInput::bias_ih] = sum(d_a, 0);
  if (needs[LayerInput::bias_hh]) down[LayerInput::bias_hh] = sum(d_u, 0);
  down[LayerInput::state] = d_state;
  down[LayerInput::cell] = d_cell;
  return down;
}

}  // namespace

Tensor direction_on_gpu(const LayerShape& shape, const Tensor& x,
                        const RecurrentWeights& weights, const LayerMemory& memory,
                        const Tensor& lengths) {
  return dispatch_real(x.dtype(), "attn::rnn", [&]<class T>(T) {
    return run_forward<T>(shape, x, weights, memory, lengths);
  });
}

Gradients direction_backward_on_gpu(const SavedLayer& saved, const Gradients& grads,
                                    const Needs& needs) {
  return dispatch_real(saved.memory.states.dtype(), "attn::rnn",
                       [&]<class T>(T) { return run_backward<T>(saved, grads, needs); });
}

}  // namespace attn::op
