#include "attn/tensor/ops/linear_attention.hpp"

#include <array>
#include <cstdint>
#include <type_traits>

#include "attn/core/error.hpp"
#include "attn/kernels/gpu/linear.hpp"
#include "attn/kernels/linear.hpp"
#include "attn/kernels/route.hpp"
#include "attn/pool/linear.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend/sizes.hpp"
#include "tensor/attend/views.hpp"
#include "tensor/cpu/linear_attention.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/linear_attention_of_ops.hpp"

namespace attn {
namespace {

constexpr const char* kWhere = "attn::linear_attention";

/// The inputs off the tape, as the kernels take them.
struct Inputs {
  Tensor q, k, v, decay, beta, past;
  double scale = 1.0;
};

/// The route of a call whose q is [batch, heads, steps, channels].
Route route_of(const Tensor& q, const Tensor& v, const Tensor& decay, bool taped) {
  return route({.on_gpu = op::on_gpu(q),
                .dtype = q.dtype(),
                .batch = q.size(0),
                .heads = q.size(1),
                .kv_heads = v.size(1),
                .queries = q.size(2),
                .keys = q.size(2),
                .channels = q.size(3),
                .value_channels = v.size(3),
                .linear = true,
                .channel_decay = decay.defined() && decay.size(3) > 1,
                .taped = taped});
}

pool::UpdateRule rule_of(const Tensor& decay, const Tensor& beta) {
  if (decay.defined())
    return beta.defined() ? pool::UpdateRule::gated_delta : pool::UpdateRule::gated;
  return beta.defined() ? pool::UpdateRule::delta : pool::UpdateRule::linear;
}

void require_rank4(const Tensor& x, const char* name) {
  op::require_real(x, kWhere, name);
  if (x.rank() != 4)
    fail(kWhere, ": ", name, " is ", x.text(), "; [batch, heads, steps, channels] is accepted");
}

void check(const Tensor& q, const Tensor& k, const Tensor& v, const LinearGates& gates,
           const Tensor& state) {
  require_rank4(q, "q");
  require_rank4(k, "k");
  require_rank4(v, "v");
  op::require_same_kind(q, k, kWhere);
  op::require_same_kind(q, v, kWhere);
  const std::int64_t kv_heads = k.size(1);
  if (kv_heads < 1 || q.size(1) % kv_heads != 0)
    fail(kWhere, ": q has ", q.size(1), " heads and k has ", kv_heads,
         "; a multiple of at least 1 is accepted");
  op::require_shape(k, {q.size(0), kv_heads, q.size(2), q.size(3)}, kWhere, "k");
  op::require_shape(v, {q.size(0), kv_heads, q.size(2), v.size(3)}, kWhere, "v");
  if (gates.decay.defined()) {
    require_rank4(gates.decay, "decay");
    op::require_same_kind(q, gates.decay, kWhere);
    op::require_shape(
        gates.decay, {q.size(0), kv_heads, q.size(2), gates.decay.size(3) == 1 ? 1 : q.size(3)},
        kWhere, "decay");
  }
  if (gates.beta.defined()) {
    op::require_same_kind(q, gates.beta, kWhere);
    op::require_shape(gates.beta, {q.size(0), kv_heads, q.size(2)}, kWhere, "beta");
  }
  if (state.defined()) {
    op::require_dtype(state, op::sum_dtype(q), kWhere, "state");
    op::require_same_device(q, state, kWhere);
    op::require_shape(state, {q.size(0), kv_heads, q.size(3), v.size(3)}, kWhere, "state");
  }
}

/// Itself if products can read its rows where they lie.
Tensor by_rows(const Tensor& x) {
  return x.strides()[3] == 1 && x.strides()[2] >= x.size(3) ? x : x.contiguous();
}

template <class T>
LinearArgs<T> args_of(const Inputs& in) {
  return {.q = op::view<const T, 4>(in.q),
          .k = op::view<const T, 4>(in.k),
          .v = op::view<const T, 4>(in.v),
          .decay = op::view<const T, 4>(in.decay),
          .beta = op::view<const T, 3>(in.beta),
          .past = op::view<const T, 4>(in.past),
          .out = {},
          .rule = rule_of(in.decay, in.beta),
          .scale = in.scale};
}

LinearAttended forward(const Inputs& in, Route route) {
  const LinearAttended result{
      op::empty_like(in.q, in.v.size(3)),
      Tensor::empty({in.k.size(0), in.k.size(1), in.k.size(3), in.v.size(3)}, in.q.dtype(),
                    in.q.device())};
  op::dispatch_real(in.q.dtype(), kWhere, [&]<class T>(T) {
    LinearArgs<T> args = args_of<T>(in);
    args.out = op::view<T, 4>(result.output);
    args.state = op::view<T, 4>(result.state);
    op::dispatch_device(
        in.q,
        [&] {
          if constexpr (std::is_same_v<T, float>)
            if (route == Route::cpu_linear) return cpu::linear(args);
          cpu::linear_chunks(args);
        },
        [&] {
          const Tensor states = Tensor::empty(result.state.shape(), in.q.dtype(), Device::gpu);
          gpu::linear(args, op::address(states), gpu::stream());
        });
  });
  return result;
}

/// As they are, or zeros where none arrived.
Tensor grad_or_zeros(const Tensor& grad, const Shape& shape, const Inputs& in) {
  return grad.defined() ? grad : Tensor::zeros(shape, in.q.dtype());
}

Gradients backward(const Inputs& in, const Gradients& grads) {
  const std::int64_t values = in.v.size(3);
  const Tensor d_out =
      by_rows(grad_or_zeros(grads[0], {in.q.size(0), in.q.size(1), in.q.size(2), values}, in));
  const Shape state_shape{in.k.size(0), in.k.size(1), in.k.size(3), values};
  const Tensor d_state = grad_or_zeros(grads[1], state_shape, in).contiguous();
  const auto like = [&](const Tensor& x) {
    return x.defined() ? Tensor::empty(x.shape(), x.dtype()) : Tensor();
  };
  const Tensor dq = op::empty_like(in.q, in.q.size(3));
  const Tensor dk = op::empty_like(in.k, in.k.size(3));
  const Tensor dv = op::empty_like(in.v, values);
  const Tensor d_decay = like(in.decay);
  const Tensor d_beta = like(in.beta);
  const Tensor d_past = Tensor::empty(state_shape, in.q.dtype());
  op::dispatch_real(in.q.dtype(), kWhere, [&]<class T>(T) {
    cpu::linear_chunks_backward<T>(args_of<T>(in), {.d_out = op::view<const T, 4>(d_out),
                                                    .d_state = op::view<const T, 4>(d_state),
                                                    .dq = op::view<T, 4>(dq),
                                                    .dk = op::view<T, 4>(dk),
                                                    .dv = op::view<T, 4>(dv),
                                                    .d_decay = op::view<T, 4>(d_decay),
                                                    .d_beta = op::view<T, 3>(d_beta),
                                                    .d_past = op::view<T, 4>(d_past)});
  });
  return {dq, dk, dv, d_decay, d_beta, in.past.defined() ? d_past : Tensor()};
}

}  // namespace

LinearAttended linear_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                const LinearGates& gates, const Tensor& state, double scale) {
  check(q, k, v, gates, state);
  if (op::is_half(q.dtype())) {
    using op::widened;
    LinearAttended result =
        linear_attention(widened(q), widened(k), widened(v),
                         {widened(gates.decay), widened(gates.beta)}, state, scale);
    result.output = result.output.to(q.dtype());
    return result;
  }
  const Inputs in{by_rows(q.detach()),
                  by_rows(k.detach()),
                  by_rows(v.detach()),
                  op::packed_or_none(gates.decay),
                  op::packed_or_none(gates.beta),
                  op::packed_or_none(state),
                  scale};
  const std::array inputs{q, k, v, gates.decay, gates.beta, state};
  const Route route = route_of(q, v, gates.decay, wants_grad(inputs));
  note_route(route);
  if (route == Route::gpu_chunks)
    return op::linear_attention_of_ops(q, k, v, gates, state, scale);
  const LinearAttended result = forward(in, route);
  std::array outputs{result.output, result.state};
  record("linear_attention", inputs, outputs,
         [q = Saved(in.q), k = Saved(in.k), v = Saved(in.v), decay = Saved(in.decay),
          beta = Saved(in.beta), past = Saved(in.past),
          scale](const Gradients& grads, const Needs&) {
           return backward(
               {q.get(), k.get(), v.get(), decay.get(), beta.get(), past.get(), scale}, grads);
         });
  return {outputs[0], outputs[1]};
}

}  // namespace attn
