#include "attn/tensor/ops/rnn.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/rnn_direction.hpp"
#include "tensor/ops/rnn_layer.hpp"

namespace attn {
namespace op {

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
