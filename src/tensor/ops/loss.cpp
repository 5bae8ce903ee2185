#include "attn/tensor/ops/loss.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/rows_table.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"

namespace attn {
namespace {

constexpr const char* kWhere = "attn::cross_entropy";

void check(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  op::require_real(logits, kWhere, "logits");
  op::require_dtype(targets, DType::i64, kWhere, "targets");
  if (logits.rank() == 0)
    fail(kWhere, ": logits is ", logits.text(), "; [..., classes] is accepted");
  Shape rows = logits.shape();
  rows.erase(-1);
  op::require_shape(targets, rows, kWhere, "targets");
  if (!(options.smoothing >= 0.0 && options.smoothing <= 1.0))
    fail(kWhere, ": smoothing ", options.smoothing, "; 0 to 1 are accepted");
}

/// How many targets count; throws if one of them is no class.
std::int64_t counted(const Tensor& targets, std::int64_t classes, std::int64_t ignored) {
  const auto* numbers = targets.data<std::int64_t>();
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < targets.numel(); ++i) {
    if (numbers[i] == ignored) continue;
    if (numbers[i] < 0 || numbers[i] >= classes)
      fail(kWhere, ": target ", numbers[i], " of ", classes, " classes; 0 to ", classes - 1,
           " and ignore_index ", ignored, " are accepted");
    ++count;
  }
  return count;
}

/// The loss of a row: log(sum(e^x)) - (1 - smoothing) x[target] - smoothing mean(x), with the
/// maximum taken out of each term.
template <class T>
double row_loss(const cpu::RowSum<T>& row, T target, std::int64_t classes, double smoothing) {
  const double log_sum = std::log(static_cast<double>(row.sum));
  const double max = row.max;
  double loss = log_sum + (1.0 - smoothing) * (max - target);
  if (smoothing > 0.0)
    loss += smoothing * (max - static_cast<double>(row.total) / static_cast<double>(classes));
  return loss;
}

/// Writes maximum and sum of each row to statistics [rows, 2].
template <class T>
double mean_loss(const Tensor& logits, const Tensor& targets, std::int64_t count,
                 const CrossEntropyOptions& options, const Tensor& statistics) {
  const std::int64_t rows = targets.numel();
  const std::int64_t classes = logits.size(-1);
  std::vector<double> losses(static_cast<std::size_t>(rows));
  const T* x = logits.data<T>();
  const auto* target = targets.data<std::int64_t>();
  T* statistic = statistics.mutable_data<T>();
  const auto kernel = cpu::row_table<T>().exp_sum;
  op::each(rows, classes, [&](std::int64_t row) {
    if (target[row] == options.ignore_index) return;
    const cpu::RowSum<T> row_sum = kernel(classes, x + row * classes);
    statistic[2 * row] = row_sum.max;
    statistic[2 * row + 1] = row_sum.sum;
    losses[static_cast<std::size_t>(row)] =
        row_loss(row_sum, x[row * classes + target[row]], classes, options.smoothing);
  });
  const double total = std::accumulate(losses.begin(), losses.end(), 0.0);
  return count == 0 ? 0.0 : total / static_cast<double>(count);
}

/// factor * (softmax(x) - smoothing / classes - (1 - smoothing) [target]) for each row that
/// counts, else 0.
template <class T>
Tensor gradient(const Tensor& logits, const Tensor& targets, const Tensor& statistics,
                double factor, const CrossEntropyOptions& options) {
  const std::int64_t classes = logits.size(-1);
  const Tensor out = Tensor::empty(logits.shape(), logits.dtype());
  const T* x = logits.data<T>();
  const auto* target = targets.data<std::int64_t>();
  const T* statistic = statistics.data<T>();
  T* to = out.mutable_data<T>();
  const auto kernel = cpu::row_table<T>().cross_entropy_backward;
  const auto shift = static_cast<T>(factor * options.smoothing / static_cast<double>(classes));
  const auto hit = static_cast<T>(factor * (1.0 - options.smoothing));
  op::each(targets.numel(), classes, [&](std::int64_t row) {
    T* dx = to + row * classes;
    if (target[row] == options.ignore_index) {
      std::fill_n(dx, classes, T(0));
      return;
    }
    const T scale = static_cast<T>(factor) / statistic[2 * row + 1];
    kernel(classes, x + row * classes, statistic[2 * row], scale, shift, dx);
    dx[target[row]] -= hit;
  });
  return out;
}

template <class T>
Tensor cross_entropy_cpu(const Tensor& logits, const Tensor& x, const Tensor& ids,
                         const CrossEntropyOptions& options) {
  const std::int64_t count = counted(ids, x.size(-1), options.ignore_index);
  const Tensor statistics = Tensor::empty({ids.numel(), 2}, x.dtype());
  const Tensor loss =
      Tensor::full(Shape{}, mean_loss<T>(x, ids, count, options, statistics), x.dtype());
  return op::record_one("cross_entropy", logits, loss,
                        [saved_x = Saved(x), saved_ids = Saved(ids), saved = Saved(statistics),
                         count, options](const Tensor& grad) {
                          const auto n = static_cast<double>(std::max<std::int64_t>(1, count));
                          return gradient<T>(saved_x.get(), saved_ids.get(), saved.get(),
                                             grad.item() / n, options);
                        });
}

/// Nothing is read back: targets are checked and counted on the GPU, too.
Tensor cross_entropy_gpu(const Tensor& logits, const Tensor& x, const Tensor& ids,
                         const CrossEntropyOptions& options) {
  const DType wide = op::sum_dtype(logits);
  const Tensor statistics = Tensor::empty({ids.numel(), 2}, wide, Device::gpu);
  const Tensor loss = Tensor::empty(Shape{}, wide, Device::gpu);
  const Tensor count = Tensor::empty(Shape{}, DType::f64, Device::gpu);
  const gpu::CrossEntropy chosen{options.smoothing, options.ignore_index};
  gpu::cross_entropy(x, ids, chosen, statistics, loss, count);
  return op::record_one("cross_entropy", logits, loss,
                        [saved_x = Saved(x), saved_ids = Saved(ids), saved = Saved(statistics),
                         count, chosen](const Tensor& grad) {
                          const Tensor& in = saved_x.get();
                          const Tensor dx = Tensor::empty(in.shape(), in.dtype(), Device::gpu);
                          gpu::cross_entropy_backward(in, saved_ids.get(), saved.get(), count,
                                                      grad, chosen, dx);
                          return dx;
                        });
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options) {
  check(logits, targets, options);
  op::require_same_device(logits, targets, kWhere);
  if (op::is_widened(logits)) return cross_entropy(logits.to(DType::f32), targets, options);
  const Tensor x = logits.detach().contiguous();
  const Tensor ids = targets.contiguous();
  return op::dispatch_device_and_real(
      x, kWhere, [&]<class T>(T) { return cross_entropy_cpu<T>(logits, x, ids, options); },
      [&] { return cross_entropy_gpu(logits, x, ids, options); });
}

Tensor mean_squared_error(const Tensor& a, const Tensor& b) {
  op::require_real(a, "attn::mean_squared_error", "a");
  op::require_real(b, "attn::mean_squared_error", "b");
  op::require_shape(b, a.shape(), "attn::mean_squared_error", "b");
  return mean(square(a - b));
}

}  // namespace attn
