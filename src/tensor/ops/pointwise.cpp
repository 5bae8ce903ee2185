#include "attn/tensor/ops/pointwise.hpp"

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/pointwise.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"
#include "tensor/pointwise_functors.hpp"

namespace attn {
namespace {

using pointwise::BinaryOp;
using pointwise::UnaryOp;

Tensor unary(UnaryOp op, const char* name, const Tensor& input, double a = 0.0,
             double b = 0.0) {
  op::require_real(input, name, "the input");
  if (op::is_widened(input))
    return unary(op, name, input.to(DType::f32), a, b).to(input.dtype());
  const Tensor x = input.contiguous();
  const Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device());
  op::dispatch_device(
      x, [&] { cpu::unary_forward(op, a, b, x, y); },
      [&] { gpu::unary_forward(op, a, b, x, y); });
  return op::record_one(
      name, x, y,
      [op, a, b, in = Saved(x),
       out = op::on_gpu(y) ? Saved() : Saved(y)](const Tensor& arrived) {
        const Tensor grad = arrived.contiguous();
        const Tensor dx = Tensor::empty(grad.shape(), grad.dtype(), grad.device());
        op::dispatch_device(
            grad, [&] { cpu::unary_backward(op, a, b, grad, in.get(), out.get(), dx); },
            [&] { gpu::unary_backward(op, a, b, grad, in.get(), dx); });
        return dx;
      });
}

/// The numbers alone, off the tape.
Tensor compute(BinaryOp op, const Tensor& a, const Tensor& b, const char* name) {
  const Tensor out =
      Tensor::empty(broadcast(a.shape(), b.shape(), name), a.dtype(), a.device());
  op::dispatch_device(
      a, [&] { cpu::binary(op, a, b, out); }, [&] { gpu::binary(op, a, b, out); });
  return out;
}

using Slopes = Gradients (*)(const Tensor& grad, const Tensor& a, const Tensor& b,
                             const Needs& needs);

/// What an op saves for its slopes.
enum class Saves { nothing, inputs };

Tensor binary(BinaryOp op, const char* name, const Tensor& a, const Tensor& b, Saves saves,
              Slopes slopes) {
  op::require_real(a, name, "the first input");
  op::require_real(b, name, "the second input");
  op::require_same_kind(a, b, name);
  if (op::is_widened(a))
    return binary(op, name, a.to(DType::f32), b.to(DType::f32), saves, slopes).to(a.dtype());
  const bool saves_inputs = saves == Saves::inputs;
  return record(name, {a, b}, compute(op, a, b, name),
                [slopes, x = saves_inputs ? Saved(a) : Saved(),
                 y = saves_inputs ? Saved(b) : Saved(), a_shape = a.shape(),
                 b_shape = b.shape()](const Gradients& grads, const Needs& needs) -> Gradients {
                  Gradients down = slopes(grads[0], x.get(), y.get(), needs);
                  if (needs[0]) down[0] = sum_to(down[0], a_shape);
                  if (needs[1]) down[1] = sum_to(down[1], b_shape);
                  return down;
                });
}

/// 1 where a is what max(a, b) or min(a, b) gives, else 0.
Tensor condition(BinaryOp op, const Tensor& a, const Tensor& b) {
  return compute(BinaryOp::equal, a, compute(op, a, b, "attn::maximum"), "attn::maximum");
}

template <BinaryOp kOp>
Gradients winner_takes_all(const Tensor& grad, const Tensor& a, const Tensor& b,
                           const Needs& needs) {
  const Tensor first = condition(kOp, a, b);
  Gradients down(2);
  if (needs[0]) down[0] = compute(BinaryOp::gate, first, grad, "attn::maximum");
  if (needs[1])
    down[1] = compute(BinaryOp::gate, affine(first, -1.0, 1.0), grad, "attn::maximum");
  return down;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  return binary(BinaryOp::add, "attn::add", a, b, Saves::nothing,
                [](const Tensor& grad, const Tensor&, const Tensor&,
                   const Needs&) -> Gradients { return {grad, grad}; });
}

Tensor sub(const Tensor& a, const Tensor& b) {
  return binary(
      BinaryOp::sub, "attn::sub", a, b, Saves::nothing,
      [](const Tensor& grad, const Tensor&, const Tensor&, const Needs& needs) -> Gradients {
        return {grad, needs[1] ? neg(grad) : Tensor()};
      });
}

Tensor mul(const Tensor& a, const Tensor& b) {
  return binary(BinaryOp::mul, "attn::mul", a, b, Saves::inputs,
                [](const Tensor& grad, const Tensor& x, const Tensor& y,
                   const Needs& needs) -> Gradients {
                  return {needs[0] ? mul(grad, y) : Tensor(),
                          needs[1] ? mul(grad, x) : Tensor()};
                });
}

Tensor div(const Tensor& a, const Tensor& b) {
  return binary(BinaryOp::div, "attn::div", a, b, Saves::inputs,
                [](const Tensor& grad, const Tensor& x, const Tensor& y,
                   const Needs& needs) -> Gradients {
                  const Tensor first = div(grad, y);
                  return {first, needs[1] ? neg(mul(first, div(x, y))) : Tensor()};
                });
}

Tensor maximum(const Tensor& a, const Tensor& b) {
  return binary(BinaryOp::maximum, "attn::maximum", a, b, Saves::inputs,
                &winner_takes_all<BinaryOp::maximum>);
}
Tensor minimum(const Tensor& a, const Tensor& b) {
  return binary(BinaryOp::minimum, "attn::minimum", a, b, Saves::inputs,
                &winner_takes_all<BinaryOp::minimum>);
}

// clang-format off
Tensor affine(const Tensor& x, double scale, double shift) { return unary(UnaryOp::affine, "attn::affine", x, scale, shift); }
Tensor neg(const Tensor& x) { return affine(x, -1.0, 0.0); }
Tensor exp(const Tensor& x) { return unary(UnaryOp::exp, "attn::exp", x); }
Tensor log(const Tensor& x) { return unary(UnaryOp::log, "attn::log", x); }
Tensor sqrt(const Tensor& x) { return unary(UnaryOp::sqrt, "attn::sqrt", x); }
Tensor square(const Tensor& x) { return unary(UnaryOp::square, "attn::square", x); }
Tensor abs(const Tensor& x) { return unary(UnaryOp::abs, "attn::abs", x); }
Tensor tanh(const Tensor& x) { return unary(UnaryOp::tanh, "attn::tanh", x); }
Tensor sigmoid(const Tensor& x) { return unary(UnaryOp::sigmoid, "attn::sigmoid", x); }
Tensor relu(const Tensor& x) { return unary(UnaryOp::relu, "attn::relu", x); }
Tensor gelu(const Tensor& x) { return unary(UnaryOp::gelu, "attn::gelu", x); }
Tensor elu(const Tensor& x, double alpha) { return unary(UnaryOp::elu, "attn::elu", x, alpha); }
Tensor clamp(const Tensor& x, double low, double high) { return unary(UnaryOp::clamp, "attn::clamp", x, low, high); }
// clang-format on

Tensor activate(const Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::identity:
      return x;
    case Activation::relu:
      return relu(x);
    case Activation::tanh:
      return tanh(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::sigmoid:
      return sigmoid(x);
    case Activation::elu:
      return elu(x);
  }
  fail("attn::activate: an unknown activation");
}

}  // namespace attn
