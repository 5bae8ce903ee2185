#include "attn/tensor/ops/rnn.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/rnn_direction.hpp"
#include "tensor/ops/rnn_layer.hpp"
#include "tensor/ops/rnn_weight.hpp"

namespace attn {
namespace op {
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
  return record_one("time_major", x, turned(x, Major::batch, lengths),
                    [saved = Saved(lengths)](const Tensor& grad) {
                      return turned(grad, Major::time, saved.get());
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

std::int64_t check_weights(CellKind kind, const RecurrentWeights& weights, std::int64_t in,
                           const Tensor& like, const char* where) {
  require_real(weights.weight_hh, where, "weight_hh");
  if (weights.weight_hh.rank() != 2)
    fail(where, ": weight_hh is ", weights.weight_hh.text(),
         "; [gates * hidden, hidden] is accepted");
  const std::int64_t hidden = weights.weight_hh.size(1);
  const std::int64_t rows = (kind == CellKind::gru ? 3 : 4) * hidden;
  require_shape(weights.weight_hh, {rows, hidden}, where, "weight_hh");
  require_shape(weights.weight_ih, {rows, in}, where, "weight_ih");
  require_same_kind(like, weights.weight_ih, where);
  require_same_kind(like, weights.weight_hh, where);
  for (const Tensor& bias : {weights.bias_ih, weights.bias_hh}) {
    if (!bias.defined()) continue;
    require_shape(bias, {rows}, where, "a bias");
    require_same_kind(like, bias, where);
  }
  return hidden;
}

void check_lengths(const Tensor& lengths, std::int64_t batch, std::int64_t most,
                   const char* where) {
  if (!lengths.defined()) return;
  require_dtype(lengths, DType::i64, where, "lengths");
  require_shape(lengths, {batch}, where, "lengths");
  for (const std::int64_t length : lengths.to_vector<std::int64_t>())
    if (length < 0 || length > most)
      fail(where, ": a length of ", length, "; 0 to ", most, " is accepted");
}

RecurrentWeights prepare(const RecurrentWeights& weights, DType dtype) {
  const auto one = [&](const Tensor& x) {
    return x.defined() ? x.to(dtype).contiguous() : Tensor();
  };
  return {one(weights.weight_ih), one(weights.weight_hh), one(weights.bias_ih),
          one(weights.bias_hh)};
}

}  // namespace op

namespace {

using op::CellKind;
using op::Way;

/// What gru() and lstm() share.
struct Stack {
  CellKind kind;
  const char* where;
  Direction direction;

  std::size_t directions() const { return direction == Direction::both ? 2 : 1; }
  /// The hidden size, the same in all layers.
  std::int64_t check(const Tensor& x, const std::vector<RecurrentWeights>& weights) const;
  LstmResult run(const Tensor& x, const std::vector<RecurrentWeights>& weights,
                 const Tensor& state, const Tensor& cell, const Tensor& lengths) const;
};

std::int64_t Stack::check(const Tensor& x, const std::vector<RecurrentWeights>& weights) const {
  op::require_real(x, where, "x");
  if (x.rank() != 3) fail(where, ": x is ", x.text(), "; [batch, steps, in] is accepted");
  if (weights.empty() || weights.size() % directions() != 0)
    fail(where, ": ", weights.size(), " sets of weights; ", directions(),
         " for each layer are accepted");
  std::int64_t in = x.size(2);
  std::int64_t hidden = 0;
  for (std::size_t index = 0; index < weights.size(); ++index) {
    const std::int64_t size = op::check_weights(kind, weights[index], in, x, where);
    if (index > 0 && size != hidden)
      fail(where, ": weights ", index, " have ", size, " hidden units, those before ", hidden,
           "; all layers have the same number");
    hidden = size;
    if ((index + 1) % directions() == 0) in = hidden * static_cast<std::int64_t>(directions());
  }
  return hidden;
}

LstmResult Stack::run(const Tensor& x, const std::vector<RecurrentWeights>& weights,
                      const Tensor& state, const Tensor& cell, const Tensor& lengths) const {
  const std::int64_t hidden = check(x, weights);
  const auto count = static_cast<std::int64_t>(weights.size());
  const DType dtype = op::sum_dtype(x);
  op::check_lengths(lengths, x.size(0), x.size(1), where);
  for (const Tensor& given : {state, cell}) {
    if (!given.defined()) continue;
    op::require_shape(given, {count, x.size(0), hidden}, where, "a state");
    op::require_same_kind(x, given, where);
  }
  const Tensor packed_lengths =
      lengths.defined() ? lengths.to(x.device()).contiguous() : Tensor();
  const auto state_of = [&](const Tensor& states, std::size_t index) {
    return states.defined() ? states.select(0, static_cast<std::int64_t>(index)).to(dtype)
                            : Tensor();
  };

  Tensor flow = op::time_major(x.to(dtype), packed_lengths);
  std::vector<Tensor> states;
  std::vector<Tensor> cells;
  for (std::size_t layer = 0; layer < weights.size(); layer += directions()) {
    std::vector<Tensor> outs;
    for (std::size_t index = layer; index < layer + directions(); ++index) {
      const auto result =
          op::run_direction(kind, index == layer ? Way::forward : Way::reverse, flow,
                            op::prepare(weights[index], dtype), state_of(state, index),
                            state_of(cell, index), packed_lengths);
      outs.push_back(result.out);
      states.push_back(result.state);
      cells.push_back(result.cell);
    }
    flow = outs.size() == 1 ? outs[0] : concat(outs, 2);
  }
  return {flow.transpose(0, 1).contiguous().to(x.dtype()), stack(states, 0).to(x.dtype()),
          kind == CellKind::lstm ? stack(cells, 0).to(x.dtype()) : Tensor()};
}

/// x [batch, in] as one step, states as one layer.
void check_step(const Tensor& x, const Tensor& state, const char* where) {
  op::require_real(x, where, "x");
  if (x.rank() != 2) fail(where, ": x is ", x.text(), "; [batch, in] is accepted");
  if (!state.defined() || state.rank() != 2)
    fail(where, ": the state is ", state.text(), "; [batch, hidden] is accepted");
}

}  // namespace

GruResult gru(const Tensor& x, const std::vector<RecurrentWeights>& weights,
              Direction direction, const Tensor& state, const Tensor& lengths) {
  const LstmResult result =
      Stack{CellKind::gru, "attn::gru", direction}.run(x, weights, state, {}, lengths);
  return {result.out, result.state};
}

LstmResult lstm(const Tensor& x, const std::vector<RecurrentWeights>& weights,
                Direction direction, const Tensor& state, const Tensor& cell,
                const Tensor& lengths) {
  return Stack{CellKind::lstm, "attn::lstm", direction}.run(x, weights, state, cell, lengths);
}

Tensor gru_cell(const Tensor& x, const Tensor& state, const RecurrentWeights& weights) {
  check_step(x, state, "attn::gru_cell");
  const Stack stack{CellKind::gru, "attn::gru_cell", Direction::forward};
  return stack.run(x.unsqueeze(1), {weights}, state.unsqueeze(0), {}, {}).state.squeeze(0);
}

LstmStep lstm_cell(const Tensor& x, const Tensor& state, const Tensor& cell,
                   const RecurrentWeights& weights) {
  check_step(x, state, "attn::lstm_cell");
  check_step(x, cell, "attn::lstm_cell");
  const Stack stack{CellKind::lstm, "attn::lstm_cell", Direction::forward};
  const LstmResult result =
      stack.run(x.unsqueeze(1), {weights}, state.unsqueeze(0), cell.unsqueeze(0), {});
  return {result.state.squeeze(0), result.cell.squeeze(0)};
}

}  // namespace attn
