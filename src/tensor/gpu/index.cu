// Gathering and scattering along an axis on the GPU.

#include <cstdint>

#include "tensor/gpu/engine.hpp"
#include "tensor/gpu/fault.cuh"
#include "tensor/gpu/launch.cuh"
#include "tensor/ops/axis_extents.hpp"

namespace attn::gpu {
namespace {

/// A place is named for each number, or once for all before and behind the axis.
template <bool kForEach, class T>
__global__ void gather_kernel(std::int64_t count, std::int64_t positions, std::int64_t inner,
                              Bounds bounds, const T* x, const std::int64_t* index, T* out) {
  for_numbers(count, [&](std::int64_t i) {
    const std::int64_t place = index[kForEach ? i : i / inner % positions];
    const std::int64_t outer = i / inner / positions;
    out[i] = bounds.admits(place) ? x[(outer * bounds.extent + place) * inner + i % inner]
                                  : op::convert<T>(0.0f);
  });
}

/// A thread adds one column, from its first place to its last, so that nobody else writes there
/// and the order is that of the CPU.
template <class T>
__global__ void scatter_kernel(std::int64_t columns, std::int64_t positions, std::int64_t inner,
                               Bounds bounds, const T* x, const std::int64_t* index, T* out) {
  for_numbers(columns, [&](std::int64_t column) {
    const std::int64_t outer = column / inner;
    const std::int64_t within = column % inner;
    for (std::int64_t p = 0; p < positions; ++p) {
      const std::int64_t from = (outer * positions + p) * inner + within;
      const std::int64_t place = index[from];
      if (bounds.admits(place))
        out[(outer * bounds.extent + place) * inner + within] += x[from];
    }
  });
}

}  // namespace

void choose_places(const Tensor& x, int axis, const Tensor& index, const IndexNames& names,
                   const Tensor& out) {
  const op::AxisExtents from(x.shape(), axis);
  op::dispatch_any(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(out.numel(), gather_kernel<false, T>, out.numel(), index.numel(), from.inner,
           bounds(names.where, names.what, from.extent), op::numbers<const T>(x),
           op::numbers<const std::int64_t>(index), op::numbers<T>(out));
  });
}

void gather(const Tensor& x, int axis, const Tensor& index, const IndexNames& names,
            const Tensor& out) {
  const op::AxisExtents to(index.shape(), axis);
  op::dispatch_any(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(out.numel(), gather_kernel<true, T>, out.numel(), to.extent, to.inner,
           bounds(names.where, names.what, x.size(axis)), op::numbers<const T>(x),
           op::numbers<const std::int64_t>(index), op::numbers<T>(out));
  });
}

void scatter_add(const Tensor& x, int axis, const Tensor& index, const IndexNames& names,
                 const Tensor& out) {
  const op::AxisExtents from(x.shape(), axis);
  const std::int64_t columns = from.outer * from.inner;
  op::dispatch_real(x.dtype(), names.where, [&](auto zero) {
    using T = decltype(zero);
    launch(columns, scatter_kernel<T>, columns, from.extent, from.inner,
           bounds(names.where, names.what, out.size(axis)), op::numbers<const T>(x),
           op::numbers<const std::int64_t>(index), op::numbers<T>(out));
  });
}

}  // namespace attn::gpu
