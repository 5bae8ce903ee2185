// Cross-entropy and its gradient on the GPU, a block for each row.

#include <cstdint>

#include "attn/core/math.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/gpu/fault.cuh"
#include "tensor/gpu/team.cuh"

namespace attn::gpu {
namespace {

constexpr const char* kWhere = "attn::cross_entropy";

/// Whether a row counts; a target that is no class is reported, and does not.
__device__ bool counts(std::int64_t target, std::int64_t ignored, const Bounds& classes) {
  return target != ignored && classes.admits(target);
}

/// losses gets the loss of each row, -1 where it does not count: a loss is never negative.
/// With smoothing s it is log(sum(e^x)) - (1 - s) x[target] - s mean(x), the maximum taken out.
template <class On, class T>
__global__ void forward_kernel(On, std::int64_t rows, Bounds classes, CrossEntropy options,
                               const T* x, const std::int64_t* targets, WideOf<T>* statistics,
                               double* losses) {
  using W = WideOf<T>;
  const std::int64_t row = On::row();
  if (row >= rows) return;
  const std::int64_t count = classes.extent;
  const std::int64_t target = targets[row];
  if (!counts(target, options.ignored, classes)) {
    if (On::rank() == 0) losses[row] = -1.0;
    return;
  }
  const T* from = x + row * count;
  W top(-INFINITY);
  W total(0);
  On::each(count, [&](std::int64_t i) {
    const W s = wide(from[i]);
    top = max(top, s);
    total += s;
  });
  top = On::max(top);
  const W base = top == W(-INFINITY) ? W(0) : top;
  W sum(0);
  On::each(count, [&](std::int64_t i) { sum += attn::exp(wide(from[i]) - base); });
  sum = On::sum(sum);
  total = On::sum(total);
  if (On::rank() != 0) return;
  statistics[2 * row] = top;
  statistics[2 * row + 1] = sum;
  const double most = top;
  double loss = attn::log(static_cast<double>(sum)) +
                (1.0 - options.smoothing) * (most - static_cast<double>(wide(from[target])));
  if (options.smoothing > 0.0)
    loss +=
        options.smoothing * (most - static_cast<double>(total) / static_cast<double>(count));
  losses[row] = loss;
}

/// The mean of the losses that count, by one block.
template <class W>
__global__ void mean_kernel(std::int64_t rows, const double* losses, W* loss, double* count) {
  using All = Team<kThreads>;
  double total = 0.0;
  double found = 0.0;
  All::each(rows, [&](std::int64_t row) {
    const double own = losses[row];
    if (own == -1.0) return;
    total += own;
    found += 1.0;
  });
  total = All::sum(total);
  found = All::sum(found);
  if (threadIdx.x != 0) return;
  *loss = static_cast<W>(found == 0.0 ? 0.0 : total / found);
  *count = found;
}

/// factor * (softmax(x) - smoothing / classes - (1 - smoothing) [target]), else 0.
template <class On, class T>
__global__ void backward_kernel(On, std::int64_t rows, Bounds classes, CrossEntropy options,
                                const T* x, const std::int64_t* targets,
                                const WideOf<T>* statistics, const double* counted,
                                const WideOf<T>* grad, T* dx) {
  using W = WideOf<T>;
  const std::int64_t row = On::row();
  if (row >= rows) return;
  const std::int64_t count = classes.extent;
  const std::int64_t target = targets[row];
  const T* from = x + row * count;
  T* to = dx + row * count;
  if (!counts(target, options.ignored, classes)) {
    On::each(count, [&](std::int64_t i) { to[i] = T(0.0f); });
    return;
  }
  const double factor = static_cast<double>(*grad) / (*counted > 1.0 ? *counted : 1.0);
  const W shift = static_cast<W>(factor * options.smoothing / static_cast<double>(count));
  const W hit = static_cast<W>(factor * (1.0 - options.smoothing));
  const W top = statistics[2 * row];
  const W base = top == W(-INFINITY) ? W(0) : top;
  const W scale = static_cast<W>(factor) / statistics[2 * row + 1];
  On::each(count, [&](std::int64_t i) {
    const W slope = scale * attn::exp(wide(from[i]) - base) - shift;
    to[i] = op::convert<T>(i == target ? slope - hit : slope);
  });
}

Bounds classes_of(const Tensor& x) {
  return bounds(kWhere, "target", x.size(-1));
}

}  // namespace

void cross_entropy(const Tensor& x, const Tensor& targets, const CrossEntropy& options,
                   const Tensor& statistics, const Tensor& loss, const Tensor& count) {
  const std::int64_t rows = targets.numel();
  const Tensor losses = Tensor::empty({rows}, DType::f64, Device::gpu);
  dispatch_numbers(x.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    using W = WideOf<T>;
    if (rows > 0)
      with_team(rows, x.size(-1), [&](auto team, unsigned blocks) {
        forward_kernel<<<blocks, kThreads, 0, stream()>>>(
            team, rows, classes_of(x), options, op::numbers<const T>(x),
            op::numbers<const std::int64_t>(targets), op::numbers<W>(statistics),
            op::numbers<double>(losses));
      });
    mean_kernel<<<1, kThreads, 0, stream()>>>(rows, op::numbers<const double>(losses),
                                              op::numbers<W>(loss), op::numbers<double>(count));
  });
  check_launch();
}

void cross_entropy_backward(const Tensor& x, const Tensor& targets, const Tensor& statistics,
                            const Tensor& count, const Tensor& grad,
                            const CrossEntropy& options, const Tensor& dx) {
  over_rows(x, kWhere, [&](auto zero, auto team, unsigned blocks, auto rows, auto) {
    using T = decltype(zero);
    using W = WideOf<T>;
    backward_kernel<<<blocks, kThreads, 0, stream()>>>(
        team, rows, classes_of(x), options, op::numbers<const T>(x),
        op::numbers<const std::int64_t>(targets), op::numbers<const W>(statistics),
        op::numbers<const double>(count), op::numbers<const W>(grad), op::numbers<T>(dx));
  });
}

}  // namespace attn::gpu
