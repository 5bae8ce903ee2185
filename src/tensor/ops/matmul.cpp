#include "attn/tensor/ops/matmul.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/gemm/gpu.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/multiplied.hpp"

namespace attn {
namespace {

/// How a matrix of the last two axes is handed to gemm: as it lies, turned, or copied first.
struct Operand {
  Tensor tensor;
  std::int64_t lead = 0;
  gemm::Transpose transpose = gemm::Transpose::no;

  explicit Operand(const Tensor& x) : tensor(x) {
    if (fits(x.strides()[-1], x.size(-1), x.strides()[-2], x.size(-2))) {
      lead = lead_of(x.strides()[-2], x.size(-1));
    } else if (fits(x.strides()[-2], x.size(-2), x.strides()[-1], x.size(-1))) {
      lead = lead_of(x.strides()[-1], x.size(-2));
      transpose = gemm::Transpose::yes;
    } else {
      tensor = x.contiguous();
      lead = lead_of(tensor.strides()[-2], x.size(-1));
    }
  }

 private:
  static bool fits(std::int64_t inner, std::int64_t columns, std::int64_t outer,
                   std::int64_t rows) {
    return (inner == 1 || columns == 1) && (outer >= columns || rows == 1);
  }
  /// gemm wants a leading stride that could hold a row, even where there is one row.
  static std::int64_t lead_of(std::int64_t stride, std::int64_t columns) {
    return stride >= columns && stride > 0 ? stride : columns > 0 ? columns : 1;
  }
};

/// The leading axes of a batched product, and where the matrices of each start.
struct Batch {
  Shape shape;
  std::vector<std::int64_t> a;
  std::vector<std::int64_t> b;

  Batch(const Tensor& x, const Tensor& y) {
    shape = broadcast(leading(x.shape()), leading(y.shape()), "attn::matmul");
    const std::int64_t count = shape.numel();
    for (std::int64_t i = 0; i < count; ++i) {
      a.push_back(offset(x, i));
      b.push_back(offset(y, i));
    }
  }

  /// One step between all of them, or -1.
  static std::int64_t even_step(const std::vector<std::int64_t>& offsets) {
    if (offsets.size() < 2) return 0;
    const std::int64_t step = offsets[1] - offsets[0];
    for (std::size_t i = 2; i < offsets.size(); ++i)
      if (offsets[i] - offsets[i - 1] != step) return -1;
    return step;
  }

 private:
  static Shape leading(const Shape& full) { return Shape(full.span().first(full.rank() - 2)); }

  std::int64_t offset(const Tensor& x, std::int64_t index) const {
    std::int64_t result = 0;
    for (int axis = 1; axis <= shape.rank(); ++axis) {
      const std::int64_t place = index % shape[-axis];
      index /= shape[-axis];
      const int own = x.rank() - 2 - axis;
      if (own >= 0 && x.size(own) != 1) result += place * x.strides()[own];
    }
    return result;
  }
};

/// One product, or several that lie evenly, on the device of the data.
template <class T>
void run(const gemm::Args<T>& args, const gemm::Finish<T>& finish, Device device) {
  if (device == Device::gpu) {
    gemm::product_on_gpu(args, finish, gpu::stream(), gpu::products());
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    gemm::product(args, finish.bias);
  }
}

template <class T>
void multiply(const Operand& a, const Operand& b, const Batch& batch, const op::Finish& how,
              const Tensor& c) {
  gemm::Args<T> args;
  args.m = c.size(-2);
  args.n = c.size(-1);
  args.k = a.tensor.size(-1);
  args.lda = a.lead;
  args.transpose_a = a.transpose;
  args.ldb = b.lead;
  args.transpose_b = b.transpose;
  args.ldc = args.n > 0 ? args.n : 1;
  args.a = op::numbers<const T>(a.tensor);
  args.b = op::numbers<const T>(b.tensor);
  args.c = op::numbers<T>(c);
  const auto first = [](const Tensor& x) {
    return x.defined() ? op::numbers<const T>(x) : nullptr;
  };
  gemm::Finish<T> finish{first(how.bias), first(how.added), how.relu};
  const std::int64_t a_step = Batch::even_step(batch.a);
  const std::int64_t b_step = Batch::even_step(batch.b);
  const auto count = static_cast<std::int64_t>(batch.a.size());
  if (a_step >= 0 && b_step >= 0) {
    args.batch = count;
    args.a_stride = a_step;
    args.b_stride = b_step;
    args.c_stride = args.m * args.n;
    return run(args, finish, c.device());
  }
  for (std::int64_t i = 0; i < count; ++i) {
    gemm::Args<T> one = args;
    one.a += batch.a[static_cast<std::size_t>(i)];
    one.b += batch.b[static_cast<std::size_t>(i)];
    one.c += i * args.m * args.n;
    run(one, finish, c.device());
    if (finish.added != nullptr) finish.added += args.m * args.n;
  }
}

}  // namespace

Tensor op::multiplied(const Tensor& x, const Tensor& y, const Finish& finish) {
  const Operand a(x);
  const Operand b(y);
  const Batch batch(a.tensor, b.tensor);
  Shape shape = batch.shape;
  shape.push_back(x.size(-2));
  shape.push_back(y.size(-1));
  if (x.size(-1) == 0) {
    Tensor c = Tensor::zeros(shape, x.dtype(), x.device());
    if (finish.bias.defined()) c = add(c, finish.bias);
    if (finish.added.defined()) c = add(c, finish.added);
    return finish.relu ? relu(c) : c;
  }
  const Tensor c = Tensor::empty(shape, x.dtype(), x.device());
  Finish packed = finish;
  if (finish.bias.defined()) packed.bias = finish.bias.contiguous();
  if (is_half(x.dtype()) && on_gpu(x)) {
    if (x.dtype() == DType::bf16) multiply<BFloat16>(a, b, batch, packed, c);
    if (x.dtype() == DType::f16) multiply<Float16>(a, b, batch, packed, c);
  } else {
    dispatch_real(x.dtype(), "attn::matmul",
                  [&](auto zero) { multiply<decltype(zero)>(a, b, batch, packed, c); });
  }
  return c;
}

template <class T>
void op::multiply_on_gpu(std::int64_t rows, const T* a, const Tensor& weight,
                         gemm::Transpose transpose, T* c, T beta) {
  const int out = transpose == gemm::Transpose::yes ? 0 : 1;
  gemm::product_on_gpu<T>({.m = rows,
                           .n = weight.size(out),
                           .k = weight.size(1 - out),
                           .a = a,
                           .lda = weight.size(1 - out),
                           .b = numbers<const T>(weight),
                           .ldb = weight.strides()[0],
                           .transpose_b = transpose,
                           .c = c,
                           .ldc = weight.size(out),
                           .beta = beta},
                          {}, gpu::stream(), gpu::products());
}

template void op::multiply_on_gpu(std::int64_t, const float*, const Tensor&, gemm::Transpose,
                                  float*, float);
template void op::multiply_on_gpu(std::int64_t, const double*, const Tensor&, gemm::Transpose,
                                  double*, double);

Tensor matmul(const Tensor& a, const Tensor& b) {
  op::require_real(a, "attn::matmul", "the first input");
  op::require_real(b, "attn::matmul", "the second input");
  op::require_same_kind(a, b, "attn::matmul");
  if (a.rank() < 2 || b.rank() < 2 || a.size(-1) != b.size(-2))
    fail("attn::matmul: ", a.text(), " times ", b.text(),
         "; [..., m, k] times [..., k, n] is accepted");
  // Products on the CPU are of fp32: 16-bit numbers are widened.
  if (op::is_widened(a)) return matmul(a.to(DType::f32), b.to(DType::f32)).to(a.dtype());
  return record(
      "attn::matmul", {a, b}, op::multiplied(a.detach(), b.detach()),
      [x = Saved(a), y = Saved(b)](const Gradients& grads, const Needs& needs) -> Gradients {
        const Tensor& left = x.get();
        const Tensor& right = y.get();
        Gradients down(2);
        if (needs[0])
          down[0] = sum_to(op::multiplied(grads[0], right.transpose(-2, -1)), left.shape());
        if (needs[1])
          down[1] = sum_to(op::multiplied(left.transpose(-2, -1), grads[0]), right.shape());
        return down;
      });
}

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
