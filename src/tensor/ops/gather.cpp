// Gathering numbers by index along an axis, and adding them back, as ops.

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/axis_extents.hpp"

namespace attn {
namespace {

/// Elements are moved, not computed with: one function for each of their sizes.
template <class Run>
void dispatch_size(DType dtype, const Run& run) {
  switch (size_of(dtype)) {
    case 8:
      return run(std::uint64_t{});
    case 4:
      return run(std::uint32_t{});
    case 2:
      return run(std::uint16_t{});
    default:
      return run(std::uint8_t{});
  }
}

/// Throws unless every index lies in [0, extent).
void check_index(const Tensor& index, std::int64_t extent, const char* where) {
  const auto* numbers = index.data<std::int64_t>();
  for (std::int64_t i = 0; i < index.numel(); ++i)
    if (numbers[i] < 0 || numbers[i] >= extent)
      fail(where, ": index ", numbers[i], " along an axis of ", extent, "; 0 to ", extent - 1,
           " are accepted");
}

/// Throws unless the shapes agree on all axes but one.
void check_shapes(const Tensor& x, int axis, const Tensor& index, const char* where) {
  bool fits = x.rank() == index.rank();
  for (int i = 0; fits && i < x.rank(); ++i) fits = i == axis || x.size(i) == index.size(i);
  if (!fits)
    fail(where, ": x is ", x.text(), ", index is ", index.text(),
         "; extents that agree on all axes but axis ", axis, " are accepted");
}

template <class T>
void gather_packed(const T* x, std::int64_t extent, const op::AxisExtents& to,
                   const std::int64_t* index, T* out) {
  to.each_strip(to.extent, [&](std::int64_t outer, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = 0; i < to.extent; ++i) {
      const std::int64_t row = (outer * to.extent + i) * to.inner;
      for (std::int64_t n = first; n < last; ++n)
        out[row + n] = x[(outer * extent + index[row + n]) * to.inner + n];
    }
  });
}

template <class T>
void scatter_packed(const T* x, const op::AxisExtents& from, const std::int64_t* index,
                    std::int64_t extent, T* out) {
  from.each_strip(from.extent, [&](std::int64_t outer, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = 0; i < from.extent; ++i) {
      const std::int64_t row = (outer * from.extent + i) * from.inner;
      for (std::int64_t n = first; n < last; ++n)
        out[(outer * extent + index[row + n]) * from.inner + n] += x[row + n];
    }
  });
}

void gather_cpu(const Tensor& x, int axis, const Tensor& index, const Tensor& out) {
  check_index(index, x.size(axis), "attn::gather");
  dispatch_size(x.dtype(), [&](auto bits) {
    using T = decltype(bits);
    gather_packed(static_cast<const T*>(x.raw()), x.size(axis),
                  op::AxisExtents(index.shape(), axis), index.data<std::int64_t>(),
                  static_cast<T*>(out.mutable_raw()));
  });
}

void scatter_cpu(const Tensor& x, int axis, const Tensor& index, std::int64_t extent,
                 const Tensor& out) {
  check_index(index, extent, "attn::scatter_add");
  op::dispatch_real(x.dtype(), "attn::scatter_add", [&](auto zero) {
    using T = decltype(zero);
    scatter_packed(x.data<T>(), op::AxisExtents(x.shape(), axis), index.data<std::int64_t>(),
                   extent, out.mutable_data<T>());
  });
}

}  // namespace

Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  constexpr const char* kWhere = "attn::gather";
  axis = normal_axis(axis, x.rank(), kWhere);
  op::require_dtype(index, DType::i64, kWhere, "index");
  check_shapes(x, axis, index, kWhere);
  op::require_same_device(x, index, kWhere);
  const Tensor from = x.detach().contiguous();
  const Tensor positions = index.contiguous();
  const Tensor out = Tensor::empty(index.shape(), x.dtype(), x.device());
  op::dispatch_device(
      x, [&] { gather_cpu(from, axis, positions, out); },
      [&] { gpu::gather(from, axis, positions, {kWhere, "index"}, out); });
  return record("gather", {x}, out,
                [axis, extent = x.size(axis), saved = Saved(positions)](
                    const Gradients& grads, const Needs&) -> Gradients {
                  return {scatter_add(grads[0], axis, saved.get(), extent)};
                });
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, std::int64_t extent) {
  constexpr const char* kWhere = "attn::scatter_add";
  op::require_real(x, kWhere, "x");
  axis = normal_axis(axis, x.rank(), kWhere);
  op::require_dtype(index, DType::i64, kWhere, "index");
  op::require_shape(index, x.shape(), kWhere, "index");
  if (extent < 0) fail(kWhere, ": extent ", extent, "; 0 and more are accepted");
  if (op::is_half(x.dtype()))
    return scatter_add(x.to(DType::f32), axis, index, extent).to(x.dtype());
  op::require_same_device(x, index, kWhere);
  const Tensor from = x.detach().contiguous();
  const Tensor positions = index.contiguous();
  Shape shape = x.shape();
  shape[axis] = extent;
  const Tensor out = Tensor::zeros(shape, x.dtype(), x.device());
  op::dispatch_device(
      x, [&] { scatter_cpu(from, axis, positions, extent, out); },
      [&] { gpu::scatter_add(from, axis, positions, {kWhere, "index"}, out); });
  return record(
      "scatter_add", {x}, out,
      [axis, saved = Saved(positions)](const Gradients& grads, const Needs&) -> Gradients {
        return {gather(grads[0], axis, saved.get())};
      });
}

}  // namespace attn
