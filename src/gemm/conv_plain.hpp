/// Convolutions as the formula reads, in plain loops: for double, for shapes without numbers,
/// and for tests to compare with.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/thread_pool.hpp"
#include "attn/gemm/conv.hpp"

namespace attn::gemm::plain {

/// One plane of x, one of y and one of the kernel.
struct Planes {
  explicit Planes(const ConvShape& from)
      : shape(from),
        y_size(from.out_size()),
        x(from.size[0] * from.size[1]),
        y(y_size[0] * y_size[1]),
        kernel(from.kernel[0] * from.kernel[1]) {}

  ConvShape shape;
  std::array<std::int64_t, 2> y_size;
  std::int64_t x;
  std::int64_t y;
  std::int64_t kernel;

  /// Calls run(place in x, place in y) for everything that one number of the kernel joins.
  template <class Run>
  void each_pair(std::int64_t tap, const Run& run) const {
    const auto row = [&](std::int64_t i) { return place(0, i, tap / shape.kernel[1]); };
    const auto column = [&](std::int64_t j) { return place(1, j, tap % shape.kernel[1]); };
    for (std::int64_t i = 0; i < y_size[0]; ++i) {
      if (row(i) < 0 || row(i) >= shape.size[0]) continue;
      for (std::int64_t j = 0; j < y_size[1]; ++j)
        if (column(j) >= 0 && column(j) < shape.size[1])
          run(row(i) * shape.size[1] + column(j), i * y_size[1] + j);
    }
  }

 private:
  std::int64_t place(std::size_t axis, std::int64_t i, std::int64_t tap) const {
    return i * shape.stride[axis] - shape.pad_before[axis] + tap * shape.dilation[axis];
  }
};

/// Calls run(i, j) for all i < rows, j < columns, in parallel.
template <class Run>
void each_pair(std::int64_t rows, std::int64_t columns, const Run& run) {
  ThreadPool::shared().parallel_for(static_cast<int>(rows * columns),
                                    ThreadPool::default_threads(),
                                    [&](int task) { run(task / columns, task % columns); });
}

template <class T>
void conv_forward(const ConvShape& shape, const T* x, const T* weight, const T* bias, T* y) {
  const Planes planes(shape);
  each_pair(shape.batch, shape.out, [&](std::int64_t b, std::int64_t o) {
    T* to = y + (b * shape.out + o) * planes.y;
    std::fill_n(to, planes.y, bias == nullptr ? T(0) : bias[o]);
    for (std::int64_t c = 0; c < shape.in; ++c) {
      const T* from = x + (b * shape.in + c) * planes.x;
      const T* w = weight + (o * shape.in + c) * planes.kernel;
      for (std::int64_t k = 0; k < planes.kernel; ++k)
        planes.each_pair(k, [&](std::int64_t i, std::int64_t j) { to[j] += w[k] * from[i]; });
    }
  });
}

template <class T>
void conv_backward_data(const ConvShape& shape, const T* grad, const T* weight, T* dx) {
  const Planes planes(shape);
  each_pair(shape.batch, shape.in, [&](std::int64_t b, std::int64_t c) {
    T* to = dx + (b * shape.in + c) * planes.x;
    std::fill_n(to, planes.x, T(0));
    for (std::int64_t o = 0; o < shape.out; ++o) {
      const T* from = grad + (b * shape.out + o) * planes.y;
      const T* w = weight + (o * shape.in + c) * planes.kernel;
      for (std::int64_t k = 0; k < planes.kernel; ++k)
        planes.each_pair(k, [&](std::int64_t i, std::int64_t j) { to[i] += w[k] * from[j]; });
    }
  });
}

template <class T>
void conv_backward_weights(const ConvShape& shape, const T* x, const T* grad, T* d_weight,
                           T* d_bias) {
  const Planes planes(shape);
  each_pair(shape.out, shape.in, [&](std::int64_t o, std::int64_t c) {
    T* to = d_weight + (o * shape.in + c) * planes.kernel;
    std::fill_n(to, planes.kernel, T(0));
    for (std::int64_t b = 0; b < shape.batch; ++b) {
      const T* g = grad + (b * shape.out + o) * planes.y;
      const T* from = x + (b * shape.in + c) * planes.x;
      for (std::int64_t k = 0; k < planes.kernel; ++k)
        planes.each_pair(k, [&](std::int64_t i, std::int64_t j) { to[k] += g[j] * from[i]; });
    }
  });
  for (std::int64_t o = 0; d_bias != nullptr && o < shape.out; ++o) {
    d_bias[o] = T(0);
    for (std::int64_t b = 0; b < shape.batch; ++b)
      for (std::int64_t j = 0; j < planes.y; ++j)
        d_bias[o] += grad[(b * shape.out + o) * planes.y + j];
  }
}

}  // namespace attn::gemm::plain
