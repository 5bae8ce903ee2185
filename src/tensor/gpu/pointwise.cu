// Pointwise functions and their gradients on the GPU.

#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor/gpu/engine.hpp"
#include "tensor/gpu/fault.cuh"
#include "tensor/gpu/launch.cuh"

namespace attn::gpu {
namespace {

using pointwise::BinaryOp;
using pointwise::UnaryOp;

// One kernel serves all ops of a type: the op is the same for all threads, so choosing it there
// costs nothing beside the memory, and compiles once.

template <class W>
struct Forward {
  UnaryOp op;
  W a, b;
  __device__ W operator()(const W (&x)[1]) const { return pointwise::forward(op, x[0], a, b); }
};
/// Of the gradient and x.
template <class W>
struct Slope {
  UnaryOp op;
  W a, b;
  __device__ W operator()(const W (&x)[2]) const {
    return x[0] * pointwise::slope(op, x[1], pointwise::forward(op, x[1], a, b), a, b);
  }
};
struct Binary {
  BinaryOp op;
  template <class W>
  __device__ W operator()(const W (&x)[2]) const {
    return pointwise::forward(op, x[0], x[1]);
  }
};
// Booleans are 0 and 1 here.
struct And {
  __device__ float operator()(const float (&x)[2]) const { return x[0] * x[1]; }
};
struct Not {
  __device__ float operator()(const float (&x)[1]) const { return 1.0f - x[0]; }
};

template <class T, int kIn>
struct Inputs {
  const T* first[kIn];
};

template <class F, class T, int kIn>
__global__ void map_kernel(F f, Places<kIn + 1> positions, Inputs<T, kIn> in, T* out) {
  for_numbers(positions.count, [&](std::int64_t i) {
    std::int64_t at[kIn + 1];
    positions.at(i, at);
    WideOf<T> x[kIn];
#pragma unroll
    for (int k = 0; k < kIn; ++k) x[k] = wide(in.first[k][at[k + 1]]);
    out[at[0]] = op::convert<T>(f(x));
  });
}

/// The same for numbers that lie side by side: no places to look for, and 16 bytes at once.
/// 16-bit numbers one by one leave two thirds of the memory's speed unused (H200: 1.0 of 3.6
/// TB/s).
template <class F, class T, int kIn>
__global__ void packs_kernel(F f, std::int64_t count, Inputs<T, kIn> in, T* out) {
  map_packs(count, in.first, out, f);
}

template <class T>
__global__ void choose_kernel(Places<4> positions, const bool* keep, const T* a, const T* b,
                              T* out) {
  for_numbers(positions.count, [&](std::int64_t i) {
    std::int64_t at[4];
    positions.at(i, at);
    out[at[0]] = keep[at[1]] ? a[at[2]] : b[at[3]];
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

/// out = f(the numbers of `in`), which broadcast to it.
template <class T, class F, std::size_t kIn>
void map(const F& f, const std::array<Tensor, kIn>& in, const Tensor& out) {
  if (out.numel() == 0) return;
  std::array<Shape, kIn + 1> strides{out.strides()};
  std::array<const void*, kIn + 1> first{op::address(out)};
  Inputs<T, kIn> from;
  for (std::size_t k = 0; k < kIn; ++k) {
    strides[k + 1] = seen(in[k], out);
    first[k + 1] = from.first[k] = op::numbers<const T>(in[k]);
  }
  const Places<kIn + 1> positions(out.shape(), strides);
  if (side_by_side<kIn + 1>(positions, first)) {
    const std::int64_t each = std::int64_t{kThreads} * Pack<T>::kCount;
    packs_kernel<F, T, kIn><<<blocks_for(positions.count, each), kThreads, 0, stream()>>>(
        f, positions.count, from, op::numbers<T>(out));
  } else {
    map_kernel<F, T, kIn><<<blocks_for(positions.count), kThreads, 0, stream()>>>(
        f, positions, from, op::numbers<T>(out));
  }
  check_launch();
}

}  // namespace

void unary_forward(UnaryOp op, double a, double b, const Tensor& x, const Tensor& y) {
  dispatch_numbers(x.dtype(), "attn::gpu::unary_forward", [&](auto zero) {
    using T = decltype(zero);
    using W = WideOf<T>;
    map<T>(Forward<W>{op, static_cast<W>(a), static_cast<W>(b)}, std::array{x}, y);
  });
}

void unary_backward(UnaryOp op, double a, double b, const Tensor& grad, const Tensor& x,
                    const Tensor& dx) {
  dispatch_numbers(x.dtype(), "attn::gpu::unary_backward", [&](auto zero) {
    using T = decltype(zero);
    using W = WideOf<T>;
    map<T>(Slope<W>{op, static_cast<W>(a), static_cast<W>(b)}, std::array{grad, x}, dx);
  });
}

void binary(BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out) {
  dispatch_numbers(out.dtype(), "attn::gpu::binary",
                   [&](auto zero) { map<decltype(zero)>(Binary{op}, std::array{a, b}, out); });
}

void logical_and(const Tensor& a, const Tensor& b, const Tensor& out) {
  map<bool>(And{}, std::array{a, b}, out);
}

void logical_not(const Tensor& a, const Tensor& out) {
  map<bool>(Not{}, std::array{a}, out);
}

void choose(const Tensor& keep, const Tensor& a, const Tensor& b, const Tensor& out) {
  const Places<4> positions(out.shape(),
                            {out.strides(), seen(keep, out), seen(a, out), seen(b, out)});
  dispatch_numbers(out.dtype(), "attn::gpu::choose", [&](auto zero) {
    using T = decltype(zero);
    launch(positions.count, choose_kernel<T>, positions, op::numbers<const bool>(keep),
           op::numbers<const T>(a), op::numbers<const T>(b), op::numbers<T>(out));
  });
}

void length_mask(const Tensor& lengths, const Tensor& out) {
  const std::int64_t extent = out.size(-1);
  launch(out.numel(), length_kernel, out.numel(), extent,
         bounds("attn::length_mask", "length", extent + 1),
         op::numbers<const std::int64_t>(lengths), op::numbers<bool>(out));
}

}  // namespace attn::gpu
