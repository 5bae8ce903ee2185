// Batch normalisation of [batch, channels, ...] as an op.

#include <cmath>
#include <cstdint>
#include <utility>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn {
namespace {

constexpr const char* kWhere = "attn::batch_norm";

/// x [batch, channels, ...] as [batch, channels, places].
struct Grid {
  std::int64_t batch;
  std::int64_t channels;
  std::int64_t positions;

  explicit Grid(const Shape& shape) : batch(shape[0]), channels(shape[1]), positions(1) {
    for (int axis = 2; axis < shape.rank(); ++axis) positions *= shape[axis];
  }
  std::int64_t each() const { return batch * positions; }  ///< numbers of one channel

  /// Calls run(channel) in parallel.
  template <class Run>
  void each_channel(const Run& run) const {
    op::each(channels, each(), run);
  }
  /// Calls run(place in memory) for every number of a channel.
  template <class Run>
  void each_number(std::int64_t channel, const Run& run) const {
    for (std::int64_t b = 0; b < batch; ++b) {
      const std::int64_t first = (b * channels + channel) * positions;
      for (std::int64_t i = first; i < first + positions; ++i) run(i);
    }
  }
};

/// Mean and biased variance of each channel, each [channels]. Sums run in double, as a channel
/// may hold millions of numbers.
struct Statistics {
  Tensor mean;
  Tensor variance;
};

template <class T>
Statistics statistics(const Tensor& x, const Grid& grid) {
  const Statistics result{Tensor::empty({grid.channels}, x.dtype()),
                          Tensor::empty({grid.channels}, x.dtype())};
  const T* from = x.data<T>();
  T* means = result.mean.mutable_data<T>();
  T* variances = result.variance.mutable_data<T>();
  const auto n = static_cast<double>(grid.each());
  grid.each_channel([&](std::int64_t channel) {
    double sum = 0.0;
    grid.each_number(channel, [&](std::int64_t i) { sum += from[i]; });
    const double mean = sum / n;
    double squares = 0.0;
    grid.each_number(channel,
                     [&](std::int64_t i) { squares += (from[i] - mean) * (from[i] - mean); });
    means[channel] = static_cast<T>(mean);
    variances[channel] = static_cast<T>(squares / n);
  });
  return result;
}

/// running = (1 - momentum) running + momentum * factor * now, in double.
void approach(Tensor running, const Tensor& now, double factor, double momentum) {
  if (!running.defined()) return;
  const NoGrad off_the_tape;
  const Tensor wanted = now.detach().reshape(running.shape()).to(DType::f64);
  running.copy_from(running.to(DType::f64) * (1.0 - momentum) + wanted * (momentum * factor));
}

struct Parameters {
  Saved mean;
  Saved variance;
  Saved weight;
  Saved bias;
  double eps;
};

/// Parameters as memory, looked up before threads start.
template <class T>
struct Channels {
  const T* mean;
  const T* variance;
  const T* weight;
  const T* bias;
  T eps;

  explicit Channels(const Parameters& from)
      : mean(op::numbers_or_null<T>(from.mean.get())),
        variance(op::numbers_or_null<T>(from.variance.get())),
        weight(op::numbers_or_null<T>(from.weight.get())),
        bias(op::numbers_or_null<T>(from.bias.get())),
        eps(static_cast<T>(from.eps)) {}

  T scale(std::int64_t c) const { return T(1) / std::sqrt(variance[c] + eps); }
  /// What a number less the mean is multiplied by.
  T factor(std::int64_t c) const { return weight == nullptr ? scale(c) : scale(c) * weight[c]; }
};

template <class T>
Tensor forward(const Tensor& x, const Grid& grid, const Parameters& parameters) {
  const Tensor out = Tensor::empty(x.shape(), x.dtype());
  const T* from = x.data<T>();
  T* to = out.mutable_data<T>();
  const Channels<T> channels(parameters);
  grid.each_channel([&](std::int64_t c) {
    const T mean = channels.mean[c];
    const T factor = channels.factor(c);
    const T bias = channels.bias == nullptr ? T(0) : channels.bias[c];
    grid.each_number(c, [&](std::int64_t i) { to[i] = (from[i] - mean) * factor + bias; });
  });
  return out;
}

/// While training, the mean and the variance are functions of x too.
template <class T>
Gradients backward_of(const Tensor& grad, const Tensor& x, const Parameters& parameters,
                      Phase phase, const Needs& needs) {
  const Grid grid(x.shape());
  const Tensor dx = Tensor::empty(x.shape(), x.dtype());
  const Tensor d_weight = Tensor::empty({grid.channels}, x.dtype());
  const Tensor d_bias = Tensor::empty({grid.channels}, x.dtype());
  const T* g = grad.data<T>();
  const T* from = x.data<T>();
  T* to = dx.mutable_data<T>();
  T* weights = d_weight.mutable_data<T>();
  T* biases = d_bias.mutable_data<T>();
  const Channels<T> channels(parameters);
  const auto n = static_cast<double>(grid.each());
  grid.each_channel([&](std::int64_t c) {
    const auto normal = [&, mean = channels.mean[c], scale = channels.scale(c)](
                            std::int64_t i) { return (from[i] - mean) * scale; };
    double sum = 0.0;
    double dot = 0.0;
    grid.each_number(c, [&](std::int64_t i) {
      sum += g[i];
      dot += g[i] * normal(i);
    });
    weights[c] = static_cast<T>(dot);
    biases[c] = static_cast<T>(sum);
    const T factor = channels.factor(c);
    const T shift = phase == Phase::train ? static_cast<T>(sum / n) : T(0);
    const T tilt = phase == Phase::train ? static_cast<T>(dot / n) : T(0);
    grid.each_number(
        c, [&](std::int64_t i) { to[i] = factor * (g[i] - shift - normal(i) * tilt); });
  });
  return {needs[0] ? dx : Tensor(), needs[1] ? d_weight : Tensor(),
          needs[2] ? d_bias : Tensor()};
}

void check(const Tensor& x, const Tensor& weight, const Tensor& bias,
           const RunningStatistics& running, Phase phase) {
  op::require_real(x, kWhere, "x");
  if (x.rank() < 2) fail(kWhere, ": x is ", x.text(), "; [batch, channels, ...] is accepted");
  for (const auto& [given, name] : {std::pair{weight, "weight"}, std::pair{bias, "bias"},
                                    std::pair{running.mean, "running.mean"},
                                    std::pair{running.variance, "running.variance"}}) {
    if (!given.defined()) continue;
    op::require_real(given, kWhere, name);
    op::require_shape(given, {x.size(1)}, kWhere, name);
  }
  if (phase == Phase::eval && !(running.mean.defined() && running.variance.defined()))
    fail(kWhere, ": no running statistics; Phase::eval needs them");
  if (phase == Phase::train && Grid(x.shape()).each() == 1)
    fail(kWhere, ": x is ", x.text(),
         ", one number in a channel; while training two or more are accepted");
}

/// `running` in the type of x, in memory of its own; zeros for none.
Tensor copy_of(const Tensor& running, const Tensor& x) {
  if (!running.defined()) return Tensor::zeros({x.size(1)}, x.dtype());
  return running.detach().to(x.dtype()).clone();
}

/// The same of ops, on the GPU.
Tensor batch_norm_gpu(const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const RunningStatistics& running, Phase phase, double momentum,
                      double eps) {
  const std::int64_t channels = x.size(1);
  const auto column = [&](const Tensor& given) { return given.reshape({channels, 1}); };
  Shape turned = x.shape();
  std::swap(turned[0], turned[1]);
  const Tensor rows = x.transpose(0, 1).reshape({channels, x.numel() / channels});
  Tensor y;
  if (phase == Phase::train && rows.size(1) > 0) {
    const Tensor centre = mean(rows, 1, Axis::keep);
    const Tensor off = rows - centre;
    const Tensor variance = mean(square(off), 1, Axis::keep);
    const auto n = static_cast<double>(rows.size(1));
    approach(running.mean, centre, 1.0, momentum);
    approach(running.variance, variance, n / (n - 1.0), momentum);
    y = off / sqrt(variance + eps);
  } else if (phase == Phase::train) {
    return x;
  } else {
    const auto fixed = [&](const Tensor& given) {
      return column(given.detach().to(x.dtype()).clone());
    };
    y = (rows - fixed(running.mean)) / sqrt(fixed(running.variance) + eps);
  }
  if (weight.defined()) y = y * column(weight);
  if (bias.defined()) y = y + column(bias);
  return y.reshape(turned).transpose(0, 1).contiguous();
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const RunningStatistics& running, Phase phase, double momentum, double eps) {
  check(x, weight, bias, running, phase);
  if (op::is_half(x.dtype()))
    return batch_norm(op::widened(x), op::widened(weight), op::widened(bias), running, phase,
                      momentum, eps)
        .to(x.dtype());
  if (weight.defined()) op::require_same_kind(x, weight, kWhere);
  if (bias.defined()) op::require_same_kind(x, bias, kWhere);
  if (op::on_gpu(x)) return batch_norm_gpu(x, weight, bias, running, phase, momentum, eps);

  return op::dispatch_real(x.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    const Grid grid(x.shape());
    const Tensor numbers = x.detach().contiguous();
    // A later step writes the running statistics; the gradient wants those of this one.
    Statistics used = {copy_of(running.mean, x), copy_of(running.variance, x)};
    if (phase == Phase::train && grid.each() > 0) {
      used = statistics<T>(numbers, grid);
      const auto n = static_cast<double>(grid.each());
      approach(running.mean, used.mean, 1.0, momentum);
      approach(running.variance, used.variance, n / (n - 1.0), momentum);
    }
    const Parameters parameters{used.mean, used.variance, op::packed_or_none(weight),
                                op::packed_or_none(bias), eps};
    return record("batch_norm", {x, weight, bias}, forward<T>(numbers, grid, parameters),
                  [saved = Saved(numbers), parameters, phase](const Gradients& grads,
                                                              const Needs& needs) {
                    return backward_of<T>(grads[0].contiguous(), saved.get(), parameters, phase,
                                          needs);
                  });
  });
}

}  // namespace attn
