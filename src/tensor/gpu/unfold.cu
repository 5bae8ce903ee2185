// Unfolding for convolutions on the GPU, and its gradient.

#include <cstdint>

#include "tensor/gpu/engine.hpp"
#include "tensor/gpu/launch.cuh"

namespace attn::gpu {
namespace {

/// A ConvShape as kernels read it.
struct Window {
  std::int64_t batch, in;
  std::int64_t size[2], out[2], kernel[2], stride[2], pad[2], dilation[2];

  explicit Window(const gemm::ConvShape& shape) : batch(shape.batch), in(shape.in) {
    const auto positions = shape.out_size();
    for (std::size_t axis = 0; axis < 2; ++axis) {
      size[axis] = shape.size[axis];
      out[axis] = positions[axis];
      kernel[axis] = shape.kernel[axis];
      stride[axis] = shape.stride[axis];
      pad[axis] = shape.pad_before[axis];
      dilation[axis] = shape.dilation[axis];
    }
  }
  __host__ __device__ std::int64_t positions() const { return batch * out[0] * out[1]; }
};

template <class T>
__global__ void unfold_kernel(Window w, std::int64_t count, const T* x, T* columns) {
  for_numbers(count, [&](std::int64_t i) {
    const std::int64_t place = i % w.positions();
    const std::int64_t row = i / w.positions();
    const std::int64_t b = place / (w.out[0] * w.out[1]);
    const std::int64_t channel = row / (w.kernel[0] * w.kernel[1]);
    const std::int64_t h = place / w.out[1] % w.out[0] * w.stride[0] - w.pad[0] +
                           row / w.kernel[1] % w.kernel[0] * w.dilation[0];
    const std::int64_t v =
        place % w.out[1] * w.stride[1] - w.pad[1] + row % w.kernel[1] * w.dilation[1];
    const bool inside = h >= 0 && h < w.size[0] && v >= 0 && v < w.size[1];
    columns[i] = inside ? x[((b * w.in + channel) * w.size[0] + h) * w.size[1] + v] : T(0);
  });
}

/// The place that sees `at` through entry `entry` of the kernel along an axis; -1 for none.
__device__ std::int64_t seen_from(const Window& w, int axis, std::int64_t at,
                                  std::int64_t entry) {
  const std::int64_t from = at + w.pad[axis] - entry * w.dilation[axis];
  if (from < 0 || from % w.stride[axis] != 0 || from / w.stride[axis] >= w.out[axis]) return -1;
  return from / w.stride[axis];
}

template <class T>
__global__ void fold_kernel(Window w, std::int64_t count, const T* columns, T* x) {
  for_numbers(count, [&](std::int64_t i) {
    const std::int64_t v = i % w.size[1];
    const std::int64_t h = i / w.size[1] % w.size[0];
    const std::int64_t channel = i / w.size[1] / w.size[0] % w.in;
    const std::int64_t b = i / w.size[1] / w.size[0] / w.in;
    T sum(0);
    for (std::int64_t p = 0; p < w.kernel[0]; ++p) {
      const std::int64_t y = seen_from(w, 0, h, p);
      if (y < 0) continue;
      for (std::int64_t q = 0; q < w.kernel[1]; ++q) {
        const std::int64_t z = seen_from(w, 1, v, q);
        if (z < 0) continue;
        const std::int64_t row = (channel * w.kernel[0] + p) * w.kernel[1] + q;
        sum += columns[row * w.positions() + (b * w.out[0] + y) * w.out[1] + z];
      }
    }
    x[i] = sum;
  });
}

}  // namespace

void unfold(const gemm::ConvShape& shape, const Tensor& x, const Tensor& columns) {
  op::dispatch_real(x.dtype(), "attn::conv", [&](auto zero) {
    using T = decltype(zero);
    launch(columns.numel(), unfold_kernel<T>, Window(shape), columns.numel(),
           op::numbers<const T>(x), op::numbers<T>(columns));
  });
}

void fold(const gemm::ConvShape& shape, const Tensor& columns, const Tensor& x) {
  op::dispatch_real(x.dtype(), "attn::conv", [&](auto zero) {
    using T = decltype(zero);
    launch(x.numel(), fold_kernel<T>, Window(shape), x.numel(), op::numbers<const T>(columns),
           op::numbers<T>(x));
  });
}

}  // namespace attn::gpu
