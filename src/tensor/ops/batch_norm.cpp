// Batch normalisation of [batch, channels, ...] as an op.

#include <algorithm>
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
  std::int64_t places;

  explicit Grid(const Shape& shape) : batch(shape[0]), channels(shape[1]), places(1) {
    for (int axis = 2; axis < shape.rank(); ++axis) places *= shape[axis];
  }
  std::int64_t each() const { return batch * places; }  ///< numbers of one channel

  /// Calls run(channel) in parallel.
  template <class Run>
  void each_channel(const Run& run) const {
    op::in_blocks(channels,
                  std::max<std::int64_t>(1, op::kGrain / std::max<std::int64_t>(1, each())),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t channel = begin; channel < end; ++channel) run(channel);
                  });
  }
  /// Calls run(place in memory) for every number of a channel.
  template <class Run>
  void each_number(std::int64_t channel, const Run& run) const {
    for (std::int64_t b = 0; b < batch; ++b) {
      const std::int64_t first = (b * channels + channel) * places;
      for (std::int64_t i = first; i < first + places; ++i) run(i);
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

/// running = (1 - momentum) running + momentum * found.
template <class T>
void update(const Tensor& running, const Tensor& found, double factor, double momentum) {
  if (!running.defined()) return;
  const NoGrad off_the_tape;
  const Tensor next = running.detach().to(found.dtype()).clone();
  const T* from = found.data<T>();
  T* to = next.mutable_data<T>();
  for (std::int64_t c = 0; c < next.numel(); ++c)
    to[c] = static_cast<T>((1.0 - momentum) * to[c] + momentum * factor * from[c]);
  Tensor(running).copy_from(next);
}

/// What both directions know of a channel.
template <class T>
struct Channel {
  T mean;
  T scale;  ///< 1 / sqrt(variance + eps)
  T weight;
  T bias;
};

struct Parameters {
  Saved mean;
  Saved variance;
  Saved weight;
  Saved bias;
  double eps;
};

/// Parameters as memory, looked up before threads start.
template <class T>
class Channels {
 public:
  explicit Channels(const Parameters& from)
      : mean_(data(from.mean)),
        variance_(data(from.variance)),
        weight_(data(from.weight)),
        bias_(data(from.bias)),
        eps_(static_cast<T>(from.eps)) {}

  Channel<T> operator[](std::int64_t c) const {
    return {mean_[c], T(1) / std::sqrt(variance_[c] + eps_),
            weight_ == nullptr ? T(1) : weight_[c], bias_ == nullptr ? T(0) : bias_[c]};
  }

 private:
  static const T* data(const Saved& x) {
    return x.defined() ? x.get().template data<T>() : nullptr;
  }

  const T* mean_;
  const T* variance_;
  const T* weight_;
  const T* bias_;
  T eps_;
};

template <class T>
Tensor forward(const Tensor& x, const Grid& grid, const Parameters& parameters) {
  const Tensor out = Tensor::empty(x.shape(), x.dtype());
  const T* from = x.data<T>();
  T* to = out.mutable_data<T>();
  const Channels<T> channels(parameters);
  grid.each_channel([&](std::int64_t c) {
    const Channel<T> channel = channels[c];
    const T factor = channel.scale * channel.weight;
    grid.each_number(
        c, [&](std::int64_t i) { to[i] = (from[i] - channel.mean) * factor + channel.bias; });
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
    const Channel<T> channel = channels[c];
    const auto normal = [&](std::int64_t i) {
      return (from[i] - channel.mean) * channel.scale;
    };
    double sum = 0.0;
    double dot = 0.0;
    grid.each_number(c, [&](std::int64_t i) {
      sum += g[i];
      dot += g[i] * normal(i);
    });
    weights[c] = static_cast<T>(dot);
    biases[c] = static_cast<T>(sum);
    const T factor = channel.scale * channel.weight;
    const T shift = phase == Phase::train ? static_cast<T>(sum / n) : T(0);
    const T tilt = phase == Phase::train ? static_cast<T>(dot / n) : T(0);
    grid.each_number(
        c, [&](std::int64_t i) { to[i] = factor * (g[i] - shift - normal(i) * tilt); });
  });
  return {needs[0] ? dx : Tensor(), needs[1] ? d_weight : Tensor(),
          needs[2] ? d_bias : Tensor()};
}

void check_channels(const Tensor& given, const Tensor& x, const char* name) {
  if (!given.defined()) return;
  op::require_real(given, kWhere, name);
  op::require_shape(given, {x.size(1)}, kWhere, name);
}

void check(const Tensor& x, const Tensor& weight, const Tensor& bias,
           const RunningStatistics& running, Phase phase) {
  op::require_real(x, kWhere, "x");
  if (x.rank() < 2) fail(kWhere, ": x is ", x.text(), "; [batch, channels, ...] is accepted");
  check_channels(weight, x, "weight");
  check_channels(bias, x, "bias");
  check_channels(running.mean, x, "running.mean");
  check_channels(running.variance, x, "running.variance");
  if (phase == Phase::eval && !(running.mean.defined() && running.variance.defined()))
    fail(kWhere, ": no running statistics; Phase::eval needs them");
  if (phase == Phase::train && Grid(x.shape()).each() == 1)
    fail(kWhere, ": x is ", x.text(),
         ", one number in a channel; while training two or more are accepted");
}

Tensor as(const Tensor& x, DType dtype) {
  return x.defined() ? x.to(dtype) : x;
}
Tensor packed(const Tensor& x) {
  return x.defined() ? x.detach().contiguous() : x;
}
/// `running` in the type of x, in memory of its own; zeros for none.
Tensor copy_of(const Tensor& running, const Tensor& x) {
  if (!running.defined()) return Tensor::zeros({x.size(1)}, x.dtype());
  return running.detach().to(x.dtype()).clone();
}

/// running += momentum (factor * now - running).
void approach(Tensor running, const Tensor& now, double factor, double momentum) {
  if (!running.defined()) return;
  const NoGrad off_the_tape;
  const Tensor wanted = now.detach().reshape(running.shape()).to(running.dtype());
  running.copy_from(running * (1.0 - momentum) + wanted * (factor * momentum));
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
    return batch_norm(x.to(DType::f32), as(weight, DType::f32), as(bias, DType::f32), running,
                      phase, momentum, eps)
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
      update<T>(running.mean, used.mean, 1.0, momentum);
      update<T>(running.variance, used.variance, n / (n - 1.0), momentum);
    }
    const Parameters parameters{used.mean, used.variance, packed(weight), packed(bias), eps};
    return record("batch_norm", {x, weight, bias}, forward<T>(numbers, grid, parameters),
                  [saved = Saved(numbers), parameters, phase](const Gradients& grads,
                                                              const Needs& needs) {
                    return backward_of<T>(grads[0].contiguous(), saved.get(), parameters, phase,
                                          needs);
                  });
  });
}

}  // namespace attn
