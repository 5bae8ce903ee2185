// Layer normalisation and its gradients on the GPU.

#include <algorithm>
#include <cstdint>

#include "attn/core/math.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/gpu/team.cuh"

namespace attn::gpu {
namespace {

constexpr const char* kWhere = "attn::layer_norm";

template <class On, class T>
__global__ void forward_kernel(On, std::int64_t rows, std::int64_t count, const T* x,
                               const WideOf<T>* weight, const WideOf<T>* bias, WideOf<T> eps,
                               WideOf<T>* moments, T* out) {
  using W = WideOf<T>;
  const std::int64_t row = On::row();
  if (row >= rows) return;
  const T* from = x + row * count;
  W sum(0);
  On::each(count, [&](std::int64_t i) { sum += wide(from[i]); });
  const W n = static_cast<W>(count);
  const W mean = On::sum(sum) / n;
  W squares(0);
  On::each(count, [&](std::int64_t i) {
    const W off = wide(from[i]) - mean;
    squares += off * off;
  });
  const W scale = W(1) / attn::sqrt(On::sum(squares) / n + eps);
  On::each(count, [&](std::int64_t i) {
    W y = (wide(from[i]) - mean) * scale;
    if (weight != nullptr) y *= weight[i];
    if (bias != nullptr) y += bias[i];
    out[row * count + i] = op::convert<T>(y);
  });
  if (On::rank() == 0) {
    moments[2 * row] = mean;
    moments[2 * row + 1] = scale;
  }
}

template <class On, class T>
__global__ void backward_kernel(On, std::int64_t rows, std::int64_t count, const T* x,
                                const WideOf<T>* weight, const WideOf<T>* moments,
                                const T* grad, T* dx) {
  using W = WideOf<T>;
  const std::int64_t row = On::row();
  if (row >= rows) return;
  const T* numbers = x + row * count;
  const T* gradients = grad + row * count;
  const W mean = moments[2 * row];
  const W scale = moments[2 * row + 1];
  const auto normal = [&](std::int64_t i) { return (wide(numbers[i]) - mean) * scale; };
  const auto slope = [&](std::int64_t i) {
    const W g = wide(gradients[i]);
    return weight == nullptr ? g : g * weight[i];
  };
  W sum(0);
  W dot(0);
  On::each(count, [&](std::int64_t i) {
    sum += slope(i);
    dot += slope(i) * normal(i);
  });
  const W n = static_cast<W>(count);
  sum = On::sum(sum) / n;
  dot = On::sum(dot) / n;
  On::each(count, [&](std::int64_t i) {
    dx[row * count + i] = op::convert<T>(scale * (slope(i) - sum - normal(i) * dot));
  });
}

constexpr int kColumns = 32;
constexpr int kRows = kThreads / kColumns;

/// parts[chunk, 0 and 1, column]: sums over the chunk's rows of grad * normal and of grad.
template <class T>
__global__ void column_kernel(std::int64_t rows, std::int64_t count, std::int64_t chunk,
                              const T* x, const WideOf<T>* moments, const T* grad,
                              WideOf<T>* parts) {
  using W = WideOf<T>;
  __shared__ W sums[2][kRows][kColumns];
  const int column = static_cast<int>(threadIdx.x) % kColumns;
  const int row = static_cast<int>(threadIdx.x) / kColumns;
  const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * kColumns + column;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * chunk;
  const std::int64_t end = begin + chunk < rows ? begin + chunk : rows;
  W d_weight(0);
  W d_bias(0);
  if (place < count) {
    for (std::int64_t r = begin + row; r < end; r += kRows) {
      const W g = wide(grad[r * count + place]);
      d_weight += g * (wide(x[r * count + place]) - moments[2 * r]) * moments[2 * r + 1];
      d_bias += g;
    }
  }
  sums[0][row][column] = d_weight;
  sums[1][row][column] = d_bias;
  __syncthreads();
  if (row >= 2 || place >= count) return;
  W total(0);
  for (int r = 0; r < kRows; ++r) total += sums[row][r][column];
  parts[(static_cast<std::int64_t>(blockIdx.y) * 2 + row) * count + place] = total;
}

}  // namespace

void layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
                const Tensor& moments, const Tensor& out) {
  over_rows(x, kWhere, [&](auto zero, auto team, unsigned blocks, auto rows, auto count) {
    using T = decltype(zero);
    using W = WideOf<T>;
    forward_kernel<<<blocks, kThreads, 0, stream()>>>(
        team, rows, count, op::numbers<const T>(x), op::numbers_or_null<W>(weight),
        op::numbers_or_null<W>(bias), static_cast<W>(eps), op::numbers<W>(moments),
        op::numbers<T>(out));
  });
}

void layer_norm_backward(const Tensor& x, const Tensor& weight, const Tensor& moments,
                         const Tensor& grad, const Tensor& dx, const Tensor& sums) {
  if (dx.defined())
    over_rows(x, kWhere, [&](auto zero, auto team, unsigned blocks, auto rows, auto count) {
      using T = decltype(zero);
      using W = WideOf<T>;
      backward_kernel<<<blocks, kThreads, 0, stream()>>>(
          team, rows, count, op::numbers<const T>(x), op::numbers_or_null<W>(weight),
          op::numbers<const W>(moments), op::numbers<const T>(grad), op::numbers<T>(dx));
    });
  if (x.numel() == 0 || !sums.defined()) return;
  const std::int64_t rows = moments.size(0);
  const std::int64_t count = x.size(-1);
  // Sixteen rows a thread and part, unless that makes more parts than a GPU can use.
  const std::int64_t chunks = std::clamp<std::int64_t>(rows / (16 * kRows), 1, 128);
  const std::int64_t chunk = (rows + chunks - 1) / chunks;
  dispatch_numbers(x.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    using W = WideOf<T>;
    const Tensor parts = Tensor::empty({chunks, 2, count}, kDType<W>, Device::gpu);
    const dim3 grid(static_cast<unsigned>((count + kColumns - 1) / kColumns),
                    static_cast<unsigned>(chunks));
    column_kernel<<<grid, kThreads, 0, stream()>>>(
        rows, count, chunk, op::numbers<const T>(x), op::numbers<const W>(moments),
        op::numbers<const T>(grad), op::numbers<W>(parts));
    sum_middle(parts, op::AxisExtents(parts.shape(), 0), sums);
  });
  check_launch();
}

}  // namespace attn::gpu
