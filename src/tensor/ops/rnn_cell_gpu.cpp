#include "tensor/ops/rnn_cell_gpu.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gpu.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/cells.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/multiplied.hpp"
#include "tensor/ops/rnn_layer.hpp"

namespace attn::op {
namespace {

Tensor room(std::int64_t rows, std::int64_t columns, DType dtype) {
  return Tensor::empty({rows, columns}, dtype, Device::gpu);
}

template <class T>
T* or_null(const Tensor& x) {
  return x.defined() ? numbers<T>(x) : nullptr;
}

/// What the way back needs.
struct Kept {
  CellKind kind;
  Saved gates, before, cell_before, cell_after, weight_hh;
};

/// The inputs of the recorded op, in this order.
struct Input {
  enum Place : std::size_t { a, state, cell, weight_hh, bias, count };
};

template <class T>
Gradients way_back(const Kept& kept, const Gradients& grads, const Needs& needs) {
  const bool is_lstm = kept.kind == CellKind::lstm;
  const Tensor& before = kept.before.get();
  const std::int64_t rows = before.size(0);
  const std::int64_t hidden = before.size(1);
  const std::int64_t columns = kept.weight_hh.get().size(0);
  const auto own = [&](const Tensor& grad) {
    return grad.defined() ? grad.clone().contiguous()
                          : Tensor::zeros({rows, hidden}, kDType<T>, Device::gpu);
  };
  const Tensor d_state = own(grads[0]);
  const Tensor d_cell = is_lstm ? own(grads[1]) : Tensor();
  const Tensor d_a = room(rows, columns, kDType<T>);
  const Tensor d_u = is_lstm ? d_a : room(rows, columns, kDType<T>);
  const gpu::CellWayBack<T> step{.rows = {rows, hidden, 0, nullptr},
                                 .kept = numbers<const T>(kept.gates.get()),
                                 .before = numbers<const T>(before),
                                 .cell_before = or_null<const T>(kept.cell_before.get()),
                                 .cell_after = or_null<const T>(kept.cell_after.get()),
                                 .d_out = nullptr,
                                 .d_state = numbers<T>(d_state),
                                 .d_cell = or_null<T>(d_cell),
                                 .d_a = numbers<T>(d_a),
                                 .d_u = numbers<T>(d_u)};
  is_lstm ? gpu::lstm_way_back(step) : gpu::gru_way_back(step);
  if (needs[Input::state])
    add_through_gates(numbers<const T>(d_u), kept.weight_hh.get(), d_state);
  Gradients down{d_a, d_state, d_cell, {}, {}};
  if (needs[Input::weight_hh]) down[Input::weight_hh] = multiplied(d_u.transpose(0, 1), before);
  if (needs[Input::bias])
    down[Input::bias] =
        is_lstm ? sum(d_a, 0)
                : concat({sum(d_a, 0), sum(d_u.slice(1, 2 * hidden, 3 * hidden), 0)}, 0);
  return down;
}

}  // namespace

template <class T>
void add_through_gates(const T* d_u, const Tensor& weight_hh, const Tensor& d_state) {
  const std::int64_t columns = weight_hh.size(0);
  const std::int64_t hidden = weight_hh.size(1);
  gemm::product_on_gpu<T>({.m = d_state.size(0),
                           .n = hidden,
                           .k = columns,
                           .a = d_u,
                           .lda = columns,
                           .b = numbers<const T>(weight_hh),
                           .ldb = hidden,
                           .c = numbers<T>(d_state),
                           .ldc = hidden,
                           .beta = T(1)},
                          nullptr, gpu::stream(), gpu::products());
}
template void add_through_gates(const float*, const Tensor&, const Tensor&);
template void add_through_gates(const double*, const Tensor&, const Tensor&);

Tensor taped_bias(CellKind kind, const RecurrentWeights& weights) {
  const std::int64_t hidden = weights.weight_hh.size(1);
  const auto given = [&](const Tensor& bias) {
    return bias.defined() ? bias
                          : Tensor::zeros({weights.weight_hh.size(0)},
                                          weights.weight_hh.dtype(), Device::gpu);
  };
  const Tensor ih = given(weights.bias_ih);
  const Tensor hh = given(weights.bias_hh);
  if (kind == CellKind::lstm) return ih + hh;
  const auto part = [&](const Tensor& x, int first, int last) {
    return x.slice(0, first * hidden, last * hidden);
  };
  return concat({part(ih, 0, 2) + part(hh, 0, 2), part(ih, 2, 3), part(hh, 2, 3)}, 0);
}

CellState cell_step(CellKind kind, const Tensor& a, const CellState& before,
                    const Tensor& weight_hh, const Tensor& bias) {
  const bool is_lstm = kind == CellKind::lstm;
  const std::int64_t rows = before.state.size(0);
  const std::int64_t hidden = before.state.size(1);
  const DType dtype = a.dtype();
  const auto packed = [](const Tensor& x) { return x.defined() ? x.detach().contiguous() : x; };
  const Tensor product = packed(a);
  const Tensor state = packed(before.state);
  const Tensor cell = packed(before.cell);
  const Tensor u = multiplied(state, weight_hh.detach().transpose(0, 1));
  const Tensor shift = packed(bias);
  const Tensor gates = room(rows, 4 * hidden, dtype);
  std::vector<Tensor> after{room(rows, hidden, dtype)};
  if (is_lstm) after.push_back(room(rows, hidden, dtype));
  dispatch_real(dtype, "attn::rnn", [&](auto zero) {
    using T = decltype(zero);
    const gpu::CellStep<T> step{.rows = {rows, hidden, 0, nullptr},
                                .a = numbers<const T>(product),
                                .u = numbers<const T>(u),
                                .bias = numbers<const T>(shift),
                                .before = numbers<const T>(state),
                                .cell_before = or_null<const T>(cell),
                                .kept = numbers<T>(gates),
                                .after = numbers<T>(after[0]),
                                .cell_after = is_lstm ? numbers<T>(after[1]) : nullptr,
                                .out = nullptr};
    is_lstm ? gpu::lstm_step(step) : gpu::gru_step(step);
  });
  const Kept kept{
      kind, gates, state, cell, is_lstm ? Saved(after[1]) : Saved(), Saved(packed(weight_hh))};
  const std::array<Tensor, Input::count> inputs{a, before.state, before.cell, weight_hh, bias};
  record("cell_step", inputs, after, [kept, dtype](const Gradients& grads, const Needs& needs) {
    return dispatch_real(dtype, "attn::rnn", [&](auto zero) {
      return way_back<decltype(zero)>(kept, grads, needs);
    });
  });
  return {after[0], is_lstm ? after[1] : Tensor()};
}

}  // namespace attn::op
