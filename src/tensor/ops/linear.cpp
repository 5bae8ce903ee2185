// x W^T + b as one op.

#include <algorithm>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/multiplied.hpp"

namespace attn {
namespace {

template <class T>
void mark_rows(const Tensor& grad, bool* marks) {
  const std::int64_t columns = grad.size(1);
  const T* row = grad.data<T>();
  for (std::int64_t i = 0; i < grad.size(0); ++i, row += columns)
    marks[i] = std::any_of(row, row + columns, [](T g) { return g != T(0); });
}

/// x with zeros in the rows whose gradient is zero; x itself where there are none. What a mask
/// hides behind the layer may be NaN, and 0 * NaN is not 0.
Tensor with_gradient(const Tensor& x, const Tensor& grad) {
  // On the GPU what a mask hides must be finite (docs/decisions/0011): looking costs a pass.
  if (op::on_gpu(x)) return x;
  const Tensor marks = Tensor::empty({grad.size(0), 1}, DType::boolean);
  bool* first = marks.mutable_data<bool>();
  op::dispatch_real(grad.dtype(), "attn::linear",
                    [&](auto zero) { mark_rows<decltype(zero)>(grad, first); });
  const bool all = std::all_of(first, first + grad.size(0), [](bool mark) { return mark; });
  return all ? x : keep_where(x, marks);
}

void validate(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  op::require_real(x, "attn::linear", "x");
  op::require_real(weight, "attn::linear", "weight");
  op::require_same_kind(x, weight, "attn::linear");
  if (weight.rank() != 2 || x.rank() < 1 || x.size(-1) != weight.size(1))
    fail("attn::linear: x ", x.text(), ", weight ", weight.text(),
         "; x [..., in] and weight [out, in] are accepted");
  if (!bias.defined()) return;
  op::require_shape(bias, {weight.size(0)}, "attn::linear", "bias");
  op::require_same_kind(weight, bias, "attn::linear");
}

std::int64_t rows_of(const Tensor& x) {
  Shape leading = x.shape();
  leading[-1] = 1;
  return leading.numel();
}

/// One product of all rows, whatever axes they have; off the tape.
Tensor product(const Tensor& x, const Tensor& weight, const op::Finish& finish) {
  const NoGrad off_the_tape;
  Shape shape = x.shape();
  shape[-1] = weight.size(0);
  const Tensor rows = x.reshape({rows_of(x), weight.size(1)});
  return op::multiplied(rows, weight.transpose(0, 1), finish).reshape(shape);
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  validate(x, weight, bias);
  if (op::is_widened(x))
    return linear(op::widened(x), op::widened(weight), op::widened(bias)).to(x.dtype());
  const std::int64_t rows = rows_of(x);
  return record("attn::linear", {x, weight, bias}, product(x, weight, {bias}),
                [rows, in = Saved(x), w = Saved(weight)](const Gradients& grads,
                                                         const Needs& needs) -> Gradients {
                  const Tensor grad = grads[0].reshape({rows, w.get().size(0)}).contiguous();
                  const Tensor flat = in.get().reshape({rows, w.get().size(1)});
                  Gradients down(3);
                  if (needs[0]) down[0] = matmul(grad, w.get()).reshape(in.get().shape());
                  if (needs[1])
                    down[1] = matmul(grad.transpose(0, 1), with_gradient(flat, grad));
                  if (needs[2]) down[2] = sum(grad, 0);
                  return down;
                });
}

Tensor linear_relu(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!op::on_gpu(x) || grad_enabled() || !bias.defined() || x.dtype() == DType::f64)
    return relu(linear(x, weight, bias));
  validate(x, weight, bias);
  return product(x, weight, {.bias = bias, .relu = true});
}

Tensor linear_plus(const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const Tensor& added) {
  if (!op::on_gpu(x) || grad_enabled()) return linear(x, weight, bias) + added;
  validate(x, weight, bias);
  op::require_same_kind(x, added, "attn::linear_plus");
  Shape shape = x.shape();
  shape[-1] = weight.size(0);
  op::require_shape(added, shape, "attn::linear_plus", "added");
  return product(x, weight, {.bias = bias, .added = added.contiguous()});
}

}  // namespace attn
