// Choosing by a condition: what is not chosen is lost, in the gradient too.

#include <array>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/rows.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"

namespace attn {
namespace {

constexpr const char* kWhere = "attn::where";

void choose_cpu(const Tensor& keep, const Tensor& a, const Tensor& b, const Tensor& out) {
  const auto seen = [&](const Tensor& x) {
    return cpu::broadcast_strides(x.shape(), x.strides(), out.shape());
  };
  op::dispatch_real(a.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    const bool* chosen = keep.data<bool>();
    const T* x = a.data<T>();
    const T* y = b.data<T>();
    T* to = out.mutable_data<T>();
    cpu::for_rows<4>(out.shape(), {out.strides(), seen(keep), seen(a), seen(b)},
                     [&](std::int64_t count, const std::array<std::int64_t, 4>& at,
                         const std::array<std::int64_t, 4>& step) {
                       for (std::int64_t i = 0; i < count; ++i)
                         to[at[0] + i] = chosen[at[1] + i * step[1]] ? x[at[2] + i * step[2]]
                                                                     : y[at[3] + i * step[3]];
                     });
  });
}

/// keep ? a : b in the shape of all three, off the tape.
Tensor choose(const Tensor& keep, const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast(keep.shape(), broadcast(a.shape(), b.shape(), kWhere), kWhere);
  const Tensor out = Tensor::empty(shape, a.dtype(), a.device());
  op::dispatch_device(
      a, [&] { choose_cpu(keep, a, b, out); }, [&] { gpu::choose(keep, a, b, out); });
  return out;
}

Tensor zero_like(const Tensor& x) {
  return Tensor::zeros(Shape::filled(x.rank(), 1), x.dtype(), x.device());
}

/// out[i] = f(a[i], b[i]) on booleans of the CPU.
template <class F>
void boolean(const Tensor& a, const Tensor& b, const Tensor& out, const F& f) {
  const Tensor x = a.expand(out.shape()).contiguous();
  const Tensor y = b.expand(out.shape()).contiguous();
  const bool* left = x.data<bool>();
  const bool* right = y.data<bool>();
  bool* to = out.mutable_data<bool>();
  for (std::int64_t i = 0; i < out.numel(); ++i) to[i] = f(left[i], right[i]);
}

void length_mask_cpu(const Tensor& lengths, const Tensor& mask) {
  const std::int64_t extent = mask.size(-1);
  const auto* length = lengths.data<std::int64_t>();
  bool* to = mask.mutable_data<bool>();
  for (std::int64_t b = 0; b < lengths.numel(); ++b) {
    if (length[b] < 0 || length[b] > extent)
      fail("attn::length_mask: length ", length[b], " of row ", b, "; 0 to ", extent,
           " are accepted");
    for (std::int64_t i = 0; i < extent; ++i) to[b * extent + i] = i < length[b];
  }
}

}  // namespace

Tensor where(const Tensor& keep, const Tensor& a, const Tensor& b) {
  op::require_dtype(keep, DType::boolean, kWhere, "the condition");
  op::require_real(a, kWhere, "the first input");
  op::require_same_kind(a, b, kWhere);
  op::require_same_device(keep, a, kWhere);
  if (op::is_widened(a)) return where(keep, a.to(DType::f32), b.to(DType::f32)).to(a.dtype());
  return record(kWhere, {a, b}, choose(keep, a, b),
                [chosen = Saved(keep), a_shape = a.shape(), b_shape = b.shape()](
                    const Gradients& grads, const Needs& needs) -> Gradients {
                  const Tensor zero = zero_like(grads[0]);
                  Gradients down(2);
                  if (needs[0]) down[0] = sum_to(choose(chosen.get(), grads[0], zero), a_shape);
                  if (needs[1]) down[1] = sum_to(choose(chosen.get(), zero, grads[0]), b_shape);
                  return down;
                });
}

Tensor keep_where(const Tensor& x, const Tensor& keep, double value) {
  op::require_real(x, "attn::keep_where", "the input");
  return where(keep, x, Tensor::full(Shape::filled(x.rank(), 1), value, x.dtype(), x.device()));
}

Tensor length_mask(const Tensor& lengths, std::int64_t extent) {
  op::require_dtype(lengths, DType::i64, "attn::length_mask", "lengths");
  const Tensor packed = lengths.contiguous();
  Shape shape = lengths.shape();
  shape.push_back(extent);
  const Tensor mask = Tensor::empty(shape, DType::boolean, lengths.device());
  op::dispatch_device(
      lengths, [&] { length_mask_cpu(packed, mask); }, [&] { gpu::length_mask(packed, mask); });
  return mask;
}

Tensor logical_and(const Tensor& a, const Tensor& b) {
  constexpr const char* kAnd = "attn::logical_and";
  op::require_dtype(a, DType::boolean, kAnd, "the first input");
  op::require_dtype(b, DType::boolean, kAnd, "the second input");
  op::require_same_device(a, b, kAnd);
  const Tensor out =
      Tensor::empty(broadcast(a.shape(), b.shape(), kAnd), DType::boolean, a.device());
  op::dispatch_device(
      a, [&] { boolean(a, b, out, [](bool x, bool y) { return x && y; }); },
      [&] { gpu::logical_and(a, b, out); });
  return out;
}

Tensor logical_not(const Tensor& a) {
  op::require_dtype(a, DType::boolean, "attn::logical_not", "the input");
  const Tensor out = Tensor::empty(a.shape(), DType::boolean, a.device());
  op::dispatch_device(
      a, [&] { boolean(a, a, out, [](bool x, bool) { return !x; }); },
      [&] { gpu::logical_not(a, out); });
  return out;
}

}  // namespace attn
