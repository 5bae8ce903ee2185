// Softmax and log-softmax of masked rows on the GPU.

#include <cstdint>

#include "attn/core/math.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/gpu/team.cuh"

namespace attn::gpu {
namespace {

/// Where the flags of a row begin, and the step between them; none without a mask.
struct KeepRows {
  const bool* flags = nullptr;
  Places<1> rows;
  std::int64_t step = 0;

  explicit KeepRows(const Tensor& keep)
      : rows(keep.defined() ? leading(keep.shape()) : Shape{},
             {keep.defined() ? leading(keep.strides()) : Shape{}}) {
    if (!keep.defined()) return;
    flags = op::numbers<const bool>(keep);
    step = keep.strides()[-1];
  }

  const __device__ bool* row(std::int64_t index) const {
    if (flags == nullptr) return nullptr;
    std::int64_t at[1];
    rows.at(index, at);
    return flags + at[0];
  }

 private:
  static Shape leading(Shape full) {
    full.erase(-1);
    return full;
  }
};

/// What to subtract before e^x; where the largest is -inf, only -inf and NaN are left.
template <class W>
__device__ W base_of(W top) {
  return top == W(-INFINITY) ? W(0) : top;
}

template <class On, class T>
__global__ void softmax_kernel(On, std::int64_t rows, std::int64_t count, KeepRows keep,
                               const T* x, T* out) {
  using W = WideOf<T>;
  const std::int64_t row = On::row();
  if (row >= rows) return;
  const T* from = x + row * count;
  T* to = out + row * count;
  const bool* flags = keep.row(row);
  const auto kept = [&](std::int64_t i) { return flags == nullptr || flags[i * keep.step]; };
  W top(-INFINITY);
  On::each(count, [&](std::int64_t i) {
    if (kept(i)) top = max(top, wide(from[i]));
  });
  const W base = base_of(On::max(top));
  W sum(0);
  On::each(count, [&](std::int64_t i) {
    if (kept(i)) sum += attn::exp(wide(from[i]) - base);
  });
  sum = On::sum(sum);
  const W factor = sum == W(0) ? W(0) : W(1) / sum;
  On::each(count, [&](std::int64_t i) {
    to[i] = op::convert<T>(kept(i) ? attn::exp(wide(from[i]) - base) * factor : W(0));
  });
}

template <class On, class T>
__global__ void softmax_backward_kernel(On, std::int64_t rows, std::int64_t count, const T* y,
                                        const T* grad, T* dx) {
  using W = WideOf<T>;
  const std::int64_t row = On::row();
  if (row >= rows) return;
  const std::int64_t first = row * count;
  W dot(0);
  On::each(count, [&](std::int64_t i) {
    const W weight = wide(y[first + i]);
    if (weight != W(0)) dot += weight * wide(grad[first + i]);
  });
  dot = On::sum(dot);
  On::each(count, [&](std::int64_t i) {
    const W weight = wide(y[first + i]);
    const W slope = weight == W(0) ? W(0) : weight * (wide(grad[first + i]) - dot);
    dx[first + i] = op::convert<T>(slope);
  });
}

template <class On, class T>
__global__ void log_softmax_kernel(On, std::int64_t rows, std::int64_t count, const T* x,
                                   T* out) {
  using W = WideOf<T>;
  const std::int64_t row = On::row();
  if (row >= rows) return;
  const std::int64_t first = row * count;
  W top(-INFINITY);
  On::each(count, [&](std::int64_t i) { top = max(top, wide(x[first + i])); });
  top = On::max(top);
  const W base = base_of(top);
  W sum(0);
  On::each(count, [&](std::int64_t i) { sum += attn::exp(wide(x[first + i]) - base); });
  const W log_sum = attn::log(On::sum(sum));
  On::each(count, [&](std::int64_t i) {
    const W s = wide(x[first + i]);
    out[first + i] = op::convert<T>(s == W(-INFINITY) ? s : (s - top) - log_sum);
  });
}

template <class On, class T>
__global__ void log_softmax_backward_kernel(On, std::int64_t rows, std::int64_t count,
                                            const T* y, const T* grad, T* dx) {
  using W = WideOf<T>;
  const std::int64_t row = On::row();
  if (row >= rows) return;
  const std::int64_t first = row * count;
  W sum(0);
  On::each(count, [&](std::int64_t i) {
    if (wide(y[first + i]) != W(-INFINITY)) sum += wide(grad[first + i]);
  });
  sum = On::sum(sum);
  On::each(count, [&](std::int64_t i) {
    const W s = wide(y[first + i]);
    const W slope = s == W(-INFINITY) ? W(0) : wide(grad[first + i]) - attn::exp(s) * sum;
    dx[first + i] = op::convert<T>(slope);
  });
}

}  // namespace

void softmax(const Tensor& x, const Tensor& keep, const Tensor& out) {
  const KeepRows mask(keep);
  over_rows(x, "attn::softmax", [&](auto zero, auto team, unsigned blocks, auto rows, auto n) {
    using T = decltype(zero);
    softmax_kernel<<<blocks, kThreads, 0, stream()>>>(
        team, rows, n, mask, op::numbers<const T>(x), op::numbers<T>(out));
  });
}

void softmax_backward(const Tensor& y, const Tensor& grad, const Tensor& dx) {
  over_rows(y, "attn::softmax", [&](auto zero, auto team, unsigned blocks, auto rows, auto n) {
    using T = decltype(zero);
    softmax_backward_kernel<<<blocks, kThreads, 0, stream()>>>(
        team, rows, n, op::numbers<const T>(y), op::numbers<const T>(grad), op::numbers<T>(dx));
  });
}

void log_softmax(const Tensor& x, const Tensor& out) {
  over_rows(x, "attn::log_softmax",
            [&](auto zero, auto team, unsigned blocks, auto rows, auto n) {
              using T = decltype(zero);
              log_softmax_kernel<<<blocks, kThreads, 0, stream()>>>(
                  team, rows, n, op::numbers<const T>(x), op::numbers<T>(out));
            });
}

void log_softmax_backward(const Tensor& y, const Tensor& grad, const Tensor& dx) {
  over_rows(y, "attn::log_softmax",
            [&](auto zero, auto team, unsigned blocks, auto rows, auto n) {
              using T = decltype(zero);
              log_softmax_backward_kernel<<<blocks, kThreads, 0, stream()>>>(
                  team, rows, n, op::numbers<const T>(y), op::numbers<const T>(grad),
                  op::numbers<T>(dx));
            });
}

}  // namespace attn::gpu
