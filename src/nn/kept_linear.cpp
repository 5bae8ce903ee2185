#include "nn/kept_linear.hpp"

#include <algorithm>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {
namespace {

template <class T>
void mark_rows(const Tensor& grad, bool* marks) {
  const std::int64_t columns = grad.size(1);
  const T* row = grad.data<T>();
  for (std::int64_t i = 0; i < grad.size(0); ++i, row += columns)
    marks[i] = std::any_of(row, row + columns, [](T g) { return g != T(0); });
}

/// x with zeros in the rows whose gradient is zero; x itself where there are none.
Tensor with_gradient(const Tensor& x, const Tensor& grad) {
  const Tensor marks = Tensor::empty({grad.size(0), 1}, DType::boolean);
  bool* first = marks.mutable_data<bool>();
  if (grad.dtype() == DType::f64) {
    mark_rows<double>(grad, first);
  } else {
    mark_rows<float>(grad, first);
  }
  const bool all = std::all_of(first, first + grad.size(0), [](bool mark) { return mark; });
  return all ? x : keep_where(x, marks);
}

}  // namespace

Tensor kept_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const bool wide = x.dtype() == DType::f32 || x.dtype() == DType::f64;
  if (!wide || !wants_grad({weight})) return linear(x, weight, bias);
  const Tensor y = [&] {
    const NoGrad off_the_tape;
    return linear(x, weight, bias);
  }();
  return record("attn::nn::kept_linear", {x, weight, bias}, y,
                [in = Saved(x), w = Saved(weight)](const Gradients& grads,
                                                   const Needs& needs) -> Gradients {
                  const Tensor grad = grads[0].reshape({-1, w.get().size(0)}).contiguous();
                  const Tensor rows = in.get().reshape({grad.size(0), w.get().size(1)});
                  Gradients down(3);
                  if (needs[0]) down[0] = matmul(grad, w.get()).reshape(in.get().shape());
                  if (needs[1])
                    down[1] = matmul(grad.transpose(0, 1), with_gradient(rows, grad));
                  if (needs[2]) down[2] = sum(grad, 0);
                  return down;
                });
}

}  // namespace attn::nn
