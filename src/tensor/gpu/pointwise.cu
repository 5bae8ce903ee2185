#include <cstdint>

#include "tensor/gpu/fault.cuh"
#include "tensor/gpu/launch.cuh"
#include "tensor/gpu/pointwise.hpp"

namespace attn::gpu {
namespace {

using pointwise::BinaryOp;
using pointwise::UnaryOp;

// One kernel serves all ops of a type: the op is the same for all threads, so choosing it there
// costs nothing beside the memory, and compiles once.

template <class T>
__global__ void unary_kernel(UnaryOp op, WideOf<T> a, WideOf<T> b, Places<2> places, const T* x,
                             T* y) {
  for_numbers(places.count, [&](std::int64_t i) {
    std::int64_t at[2];
    places.at(i, at);
    y[at[0]] = op::convert<T>(pointwise::forward(op, wide(x[at[1]]), a, b));
  });
}

template <class T>
__global__ void slope_kernel(UnaryOp op, WideOf<T> a, WideOf<T> b, Places<3> places,
                             const T* grad, const T* x, T* dx) {
  for_numbers(places.count, [&](std::int64_t i) {
    std::int64_t at[3];
    places.at(i, at);
    const WideOf<T> in = wide(x[at[2]]);
    const WideOf<T> out = pointwise::forward(op, in, a, b);
    dx[at[0]] = op::convert<T>(wide(grad[at[1]]) * pointwise::slope(op, in, out, a, b));
  });
}

template <class T>
__global__ void binary_kernel(BinaryOp op, Places<3> places, const T* a, const T* b, T* out) {
  for_numbers(places.count, [&](std::int64_t i) {
    std::int64_t at[3];
    places.at(i, at);
    out[at[0]] = op::convert<T>(pointwise::forward(op, wide(a[at[1]]), wide(b[at[2]])));
  });
}

// The same for numbers that lie side by side: no places to look for, and 16 bytes at once.
// 16-bit numbers one by one leave two thirds of the memory's speed unused (H200: 1.0 of 3.6
// TB/s).

template <class T>
__global__ void unary_packs(UnaryOp op, WideOf<T> a, WideOf<T> b, std::int64_t count,
                            const T* x, T* y) {
  const T* const from[] = {x};
  map_packs(count, from, y,
            [&](const WideOf<T>(&in)[1]) { return pointwise::forward(op, in[0], a, b); });
}

template <class T>
__global__ void slope_packs(UnaryOp op, WideOf<T> a, WideOf<T> b, std::int64_t count,
                            const T* grad, const T* x, T* dx) {
  const T* const from[] = {grad, x};
  map_packs(count, from, dx, [&](const WideOf<T>(&in)[2]) {
    const WideOf<T> out = pointwise::forward(op, in[1], a, b);
    return in[0] * pointwise::slope(op, in[1], out, a, b);
  });
}

template <class T>
__global__ void binary_packs(BinaryOp op, std::int64_t count, const T* a, const T* b, T* out) {
  const T* const from[] = {a, b};
  map_packs(count, from, out,
            [&](const WideOf<T>(&in)[2]) { return pointwise::forward(op, in[0], in[1]); });
}

template <class T>
unsigned blocks_of_packs(std::int64_t count) {
  return blocks_for(count, std::int64_t{kThreads} * Pack<T>::kCount);
}

template <class T>
__global__ void choose_kernel(Places<4> places, const bool* keep, const T* a, const T* b,
                              T* out) {
  for_numbers(places.count, [&](std::int64_t i) {
    std::int64_t at[4];
    places.at(i, at);
    out[at[0]] = keep[at[1]] ? a[at[2]] : b[at[3]];
  });
}

__global__ void and_kernel(Places<3> places, const bool* a, const bool* b, bool* out) {
  for_numbers(places.count, [&](std::int64_t i) {
    std::int64_t at[3];
    places.at(i, at);
    out[at[0]] = a[at[1]] && b[at[2]];
  });
}

__global__ void not_kernel(Places<2> places, const bool* a, bool* out) {
  for_numbers(places.count, [&](std::int64_t i) {
    std::int64_t at[2];
    places.at(i, at);
    out[at[0]] = !a[at[1]];
  });
}

__global__ void length_kernel(std::int64_t count, std::int64_t extent, Bounds bounds,
                              const std::int64_t* lengths, bool* out) {
  for_numbers(count, [&](std::int64_t i) {
    const std::int64_t length = lengths[i / extent];
    out[i] = bounds.admits(length) && i % extent < length;
  });
}

Shape seen(const Tensor& x, const Tensor& as) {
  return cpu::broadcast_strides(x.shape(), x.strides(), as.shape());
}

}  // namespace

void unary_forward(UnaryOp op, double a, double b, const Tensor& x, const Tensor& y) {
  if (y.numel() == 0) return;
  const Places<2> places(y.shape(), {y.strides(), x.strides()});
  dispatch_numbers(x.dtype(), "attn::gpu::unary_forward", [&](auto zero) {
    using T = decltype(zero);
    if (side_by_side(places, {op::address(y), op::address(x)})) {
      unary_packs<T><<<blocks_of_packs<T>(places.count), kThreads, 0, stream()>>>(
          op, static_cast<WideOf<T>>(a), static_cast<WideOf<T>>(b), places.count,
          op::numbers<const T>(x), op::numbers<T>(y));
      return;
    }
    unary_kernel<T><<<blocks_for(places.count), kThreads, 0, stream()>>>(
        op, static_cast<WideOf<T>>(a), static_cast<WideOf<T>>(b), places,
        op::numbers<const T>(x), op::numbers<T>(y));
  });
  check_launch();
}

void unary_backward(UnaryOp op, double a, double b, const Tensor& grad, const Tensor& x,
                    const Tensor& dx) {
  if (dx.numel() == 0) return;
  const Places<3> places(dx.shape(), {dx.strides(), grad.strides(), x.strides()});
  dispatch_numbers(x.dtype(), "attn::gpu::unary_backward", [&](auto zero) {
    using T = decltype(zero);
    if (side_by_side(places, {op::address(dx), op::address(grad), op::address(x)})) {
      slope_packs<T><<<blocks_of_packs<T>(places.count), kThreads, 0, stream()>>>(
          op, static_cast<WideOf<T>>(a), static_cast<WideOf<T>>(b), places.count,
          op::numbers<const T>(grad), op::numbers<const T>(x), op::numbers<T>(dx));
      return;
    }
    slope_kernel<T><<<blocks_for(places.count), kThreads, 0, stream()>>>(
        op, static_cast<WideOf<T>>(a), static_cast<WideOf<T>>(b), places,
        op::numbers<const T>(grad), op::numbers<const T>(x), op::numbers<T>(dx));
  });
  check_launch();
}

void binary(BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out) {
  if (out.numel() == 0) return;
  const Places<3> places(out.shape(), {out.strides(), seen(a, out), seen(b, out)});
  dispatch_numbers(out.dtype(), "attn::gpu::binary", [&](auto zero) {
    using T = decltype(zero);
    if (side_by_side(places, {op::address(out), op::address(a), op::address(b)})) {
      binary_packs<T><<<blocks_of_packs<T>(places.count), kThreads, 0, stream()>>>(
          op, places.count, op::numbers<const T>(a), op::numbers<const T>(b),
          op::numbers<T>(out));
      return;
    }
    binary_kernel<T><<<blocks_for(places.count), kThreads, 0, stream()>>>(
        op, places, op::numbers<const T>(a), op::numbers<const T>(b), op::numbers<T>(out));
  });
  check_launch();
}

void choose(const Tensor& keep, const Tensor& a, const Tensor& b, const Tensor& out) {
  if (out.numel() == 0) return;
  const Places<4> places(out.shape(),
                         {out.strides(), seen(keep, out), seen(a, out), seen(b, out)});
  dispatch_numbers(out.dtype(), "attn::gpu::choose", [&](auto zero) {
    using T = decltype(zero);
    choose_kernel<T><<<blocks_for(places.count), kThreads, 0, stream()>>>(
        places, op::numbers<const bool>(keep), op::numbers<const T>(a), op::numbers<const T>(b),
        op::numbers<T>(out));
  });
  check_launch();
}

void logical_and(const Tensor& a, const Tensor& b, const Tensor& out) {
  if (out.numel() == 0) return;
  const Places<3> places(out.shape(), {out.strides(), seen(a, out), seen(b, out)});
  and_kernel<<<blocks_for(places.count), kThreads, 0, stream()>>>(
      places, op::numbers<const bool>(a), op::numbers<const bool>(b), op::numbers<bool>(out));
  check_launch();
}

void logical_not(const Tensor& a, const Tensor& out) {
  if (out.numel() == 0) return;
  const Places<2> places(out.shape(), {out.strides(), a.strides()});
  not_kernel<<<blocks_for(places.count), kThreads, 0, stream()>>>(
      places, op::numbers<const bool>(a), op::numbers<bool>(out));
  check_launch();
}

void length_mask(const Tensor& lengths, const Tensor& out) {
  if (out.numel() == 0) return;
  const std::int64_t extent = out.size(-1);
  length_kernel<<<blocks_for(out.numel()), kThreads, 0, stream()>>>(
      out.numel(), extent, bounds("attn::length_mask", "length", extent + 1),
      op::numbers<const std::int64_t>(lengths), op::numbers<bool>(out));
  check_launch();
}

}  // namespace attn::gpu
