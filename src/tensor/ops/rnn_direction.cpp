#include "tensor/ops/rnn_direction.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/rnn_layer.hpp"
#include "tensor/ops/rnn_weight.hpp"

namespace attn::op {
namespace {

using gemm::Transpose;

constexpr const char* kWhere = "attn::rnn";

/// to[j, i] = from[i, j] for rows of features, zero where `time` is past the length.
enum class Major { batch, time };

template <class T>
void turn_rows(const Tensor& from, const Tensor& to, Major from_major, const Tensor& lengths) {
  const std::int64_t outer = from.size(0);
  const std::int64_t inner = from.size(1);
  const std::int64_t features = from.size(2);
  const T* source = from.data<T>();
  T* target = to.mutable_data<T>();
  const auto* length = numbers_or_null<std::int64_t>(lengths);
  each(outer, inner * features, [&](std::int64_t i) {
    for (std::int64_t j = 0; j < inner; ++j) {
      const std::int64_t row = from_major == Major::batch ? i : j;
      const std::int64_t time = from_major == Major::batch ? j : i;
      T* place = target + (j * outer + i) * features;
      if (length != nullptr && time >= length[row]) {
        std::fill_n(place, features, T(0));
      } else {
        std::copy_n(source + (i * inner + j) * features, features, place);
      }
    }
  });
}

Tensor turned(const Tensor& x, Major major, const Tensor& lengths) {
  const Tensor packed = x.contiguous();
  const Tensor result = Tensor::empty({x.size(1), x.size(0), x.size(2)}, x.dtype());
  dispatch_real(x.dtype(), kWhere,
                [&]<class T>(T) { turn_rows<T>(packed, result, major, lengths); });
  return result;
}

template <class T>
Tensor run_forward(const LayerShape& shape, const Tensor& x, const RecurrentWeights& weights,
                   const LayerMemory& memory, const Tensor& lengths) {
  const Tensor out = Tensor::empty({shape.steps, shape.batch, shape.hidden}, kDType<T>);
  T* out_data = out.mutable_data<T>();
  const LayerForward<T> layer(shape, weights, memory, lengths);
  const Matrix<T> products{layer.gates(0, 0), shape.steps * shape.batch, shape.input_columns(),
                           shape.kept_columns()};
  multiply<T>({.a = matrix_of<T>(x),
               .b = matrix_of<T>(weights.weight_ih),
               .transpose_b = Transpose::yes,
               .c = products});
  in_row_blocks(shape.batch, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t step = 0; step < shape.steps; ++step) {
      const std::int64_t time = shape.time(step);
      layer.step(time, first, rows, out_data + (time * shape.batch + first) * shape.hidden,
                 shape.hidden);
    }
  });
  return out;
}

template <class T>
Gradients run_backward(const SavedLayer& saved, const Gradients& grads, const Needs& needs) {
  const LayerShape& shape = saved.shape;
  const LayerBackward<T> layer(shape, saved.weight_hh.get(), saved.memory, saved.lengths.get(),
                               grads[1], grads.size() > 2 ? grads[2] : Tensor());
  const Tensor d_out = grads[0].defined() ? grads[0].contiguous() : Tensor();
  const T* d_out_data = numbers_or_null<T>(d_out);
  in_row_blocks(shape.batch, [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t step = shape.steps; step-- > 0;) {
      const std::int64_t time = shape.time(step);
      const std::int64_t at = (time * shape.batch + first) * shape.hidden;
      layer.step(time, first, rows, d_out_data == nullptr ? nullptr : d_out_data + at,
                 shape.hidden);
    }
  });

  Gradients result(LayerInput::count);
  const Tensor& x = saved.x.get();
  const Tensor& weight = saved.weight_ih.get();
  ProductList<T> products;
  if (needs[LayerInput::x]) {
    result[LayerInput::x] = Tensor::empty(x.shape(), kDType<T>);
    products.add({.a = layer.d_inputs(),
                  .b = matrix_of<T>(weight),
                  .c = mutable_matrix_of<T>(result[LayerInput::x])});
  }
  if (needs[LayerInput::weight_ih]) {
    result[LayerInput::weight_ih] = Tensor::empty(weight.shape(), kDType<T>);
    products.add({.a = layer.d_inputs(),
                  .transpose_a = Transpose::yes,
                  .b = matrix_of<T>(x),
                  .c = mutable_matrix_of<T>(result[LayerInput::weight_ih])});
  }
  if (needs[LayerInput::weight_hh]) result[LayerInput::weight_hh] = layer.d_weight_hh(products);
  products.run();
  if (needs[LayerInput::bias_ih] || needs[LayerInput::bias_hh]) {
    const auto bias = layer.d_bias();
    result[LayerInput::bias_ih] = bias.ih;
    result[LayerInput::bias_hh] = bias.hh;
  }
  result[LayerInput::state] = layer.d_state();
  result[LayerInput::cell] = layer.d_cell();
  return result;
}

}  // namespace

Tensor time_major(const Tensor& x, const Tensor& lengths) {
  if (on_gpu(x)) {
    const Tensor masked =
        lengths.defined() ? keep_where(x, length_mask(lengths, x.size(1)).unsqueeze(2)) : x;
    return masked.transpose(0, 1).contiguous();
  }
  return record("time_major", {x}, turned(x, Major::batch, lengths),
                [saved = Saved(lengths)](const Gradients& grads, const Needs&) -> Gradients {
                  return {turned(grads[0], Major::time, saved.get())};
                });
}

DirectionResult run_direction(CellKind kind, Way way, const Tensor& x,
                              const RecurrentWeights& weights, const Tensor& state,
                              const Tensor& cell, const Tensor& lengths) {
  const LayerShape shape{kind, way, x.size(0), x.size(1), weights.weight_hh.size(1)};
  const LayerMemory memory(shape, x.dtype(), x.device(), state, cell);
  const Tensor packed = x.detach().contiguous();
  std::vector<Tensor> results;
  {
    const NoGrad off_the_tape;
    results.push_back(dispatch_device_and_real(
        x, kWhere,
        [&]<class T>(T) { return run_forward<T>(shape, packed, weights, memory, lengths); },
        [&] { return direction_on_gpu(shape, packed, weights, memory, lengths); }));
    results.push_back(memory.states.select(0, shape.last_slot()).clone());
    if (kind == CellKind::lstm)
      results.push_back(memory.cells.select(0, shape.last_slot()).clone());
  }
  const std::array<Tensor, LayerInput::count> inputs{
      x, weights.weight_ih, weights.weight_hh, weights.bias_ih, weights.bias_hh, state, cell};
  const SavedLayer saved{shape, memory, packed, weights.weight_ih, weights.weight_hh, lengths};
  record(kind == CellKind::gru ? "gru" : "lstm", inputs, results,
         [saved](const Gradients& grads, const Needs& needs) {
           return dispatch_device_and_real(
               saved.memory.states, kWhere,
               [&]<class T>(T) { return run_backward<T>(saved, grads, needs); },
               [&] { return direction_backward_on_gpu(saved, grads, needs); });
         });
  return {results[0], results[1], kind == CellKind::lstm ? results[2] : Tensor()};
}

}  // namespace attn::op
