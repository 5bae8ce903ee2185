#include "attn/nn/optimiser.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "nn/gpu/optimiser.hpp"
#include "nn/replace.hpp"
#include "nn/updates.hpp"
#include "tensor/cpu/pointwise.hpp"
#include "tensor/cpu/pointwise_table.hpp"
#include "tensor/op.hpp"

namespace attn::nn {
namespace {

std::vector<Tensor> zeros_like(const std::vector<NamedTensor>& parameters) {
  std::vector<Tensor> all;
  all.reserve(parameters.size());
  for (const auto& [name, tensor] : parameters)
    all.push_back(Tensor::zeros(tensor.shape(), tensor.dtype(), tensor.device()));
  return all;
}

void update(std::int64_t count, const AdamStep& step, const float* grad, float* parameter,
            float* mean, float* square) {
  const cpu::OptimiserTable& table = cpu::best_table<cpu::OptimiserTable>();
  op::in_blocks(count, op::kGrain, [&](std::int64_t begin, std::int64_t end) {
    table.adam(end - begin, step, grad + begin, parameter + begin, mean + begin,
               square + begin);
  });
}

void update(std::int64_t count, const AdamStep& step, const double* grad, double* parameter,
            double* mean, double* square) {
  for (std::int64_t i = 0; i < count; ++i) {
    const AdamNumbers<double> now =
        step.update(grad[i], AdamNumbers<double>{parameter[i], mean[i], square[i]});
    parameter[i] = now.parameter;
    mean[i] = now.mean;
    square[i] = now.square;
  }
}

/// `velocity` may be null: without momentum nothing is kept.
template <class T>
void update(std::int64_t count, const SgdStep& step, const T* grad, T* parameter, T* velocity) {
  op::in_blocks(count, op::kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const SgdNumbers<T> now = step.update(
          grad[i], SgdNumbers<T>{parameter[i], velocity == nullptr ? T(0) : velocity[i]});
      parameter[i] = now.parameter;
      if (velocity != nullptr) velocity[i] = now.velocity;
    }
  });
}

/// The parameters that have gradients, in two heaps: the GPU takes all of its own at once.
struct Waiting {
  std::vector<gpu::Updated> cpu;
  std::vector<gpu::Updated> gpu;

  void add(const Tensor& parameter, const Tensor& master, const Tensor& first,
           const Tensor& second) {
    if (!parameter.grad().defined()) return;
    const Tensor grad = parameter.grad().contiguous();
    const Tensor& numbers = master.defined() ? master : parameter;
    const Tensor rounded = master.defined() ? parameter : Tensor();
    if (op::on_gpu(parameter)) {
      gpu.push_back({numbers, grad, first, second, rounded});
    } else {
      cpu.push_back({numbers, grad.to(numbers.dtype()), first, second, rounded});
    }
  }
};

/// Of the CPU; the GPU rounds as it steps.
void round_master(const gpu::Updated& own) {
  if (own.rounded.defined()) Tensor(own.rounded).copy_from(own.parameter);
}

}  // namespace

Optimiser::Optimiser(std::vector<NamedTensor> parameters)
    : parameters_(std::move(parameters)) {}

void Optimiser::zero_grad() {
  for (auto& [name, tensor] : parameters_) tensor.zero_grad();
}

void Optimiser::keep_masters(DType dtype) {
  constexpr const char* kWhere = "attn::nn::Optimiser::keep_masters";
  if (!op::is_half(dtype))
    fail(kWhere, ": dtype ", name_of(dtype), "; bf16 and f16 are accepted");
  if (!masters_.empty()) fail(kWhere, ": there are masters already");
  for (const auto& [name, tensor] : parameters_)
    op::require_dtype(tensor, DType::f32, kWhere, name.c_str());
  const NoGrad off_the_tape;
  for (const auto& [name, tensor] : parameters_) {
    masters_.push_back(tensor.detach().clone());
    replace(tensor, masters_.back().to(dtype));
  }
}

std::vector<NamedTensor> Optimiser::numbers() const {
  std::vector<NamedTensor> all = parameters_;
  for (std::size_t i = 0; i < masters_.size(); ++i) all[i].tensor = masters_[i];
  return all;
}

void Optimiser::add_masters(std::vector<NamedTensor>& state) const {
  for (std::size_t i = 0; i < masters_.size(); ++i)
    state.push_back({parameters_[i].name + ".master", masters_[i]});
}

Sgd::Sgd(const Module& module, const SgdOptions& options)
    : Optimiser(module.named_parameters()), options_(options) {
  if (options_.momentum != 0.0) velocity_ = zeros_like(parameters_);
}

void Sgd::step(double rate) {
  const NoGrad off_the_tape;
  const SgdStep step{options_.momentum, options_.weight_decay, rate};
  Waiting waiting;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    waiting.add(parameters_[i].tensor, masters_.empty() ? Tensor() : masters_[i],
                velocity_.empty() ? Tensor() : velocity_[i], {});
  if (!waiting.gpu.empty()) gpu::sgd(step, waiting.gpu);
  for (const gpu::Updated& own : waiting.cpu) {
    op::dispatch_real(own.parameter.dtype(), "attn::nn::Sgd::step", [&](auto zero) {
      using T = decltype(zero);
      update(own.parameter.numel(), step, own.grad.data<T>(), own.parameter.mutable_data<T>(),
             own.first.defined() ? own.first.mutable_data<T>() : static_cast<T*>(nullptr));
    });
    round_master(own);
  }
  ++steps_;
}

std::vector<NamedTensor> Sgd::state() {
  std::vector<NamedTensor> all;
  all.reserve(velocity_.size());
  for (std::size_t i = 0; i < velocity_.size(); ++i)
    all.push_back({parameters_[i].name + ".velocity", velocity_[i]});
  add_masters(all);
  return all;
}

Adam::Adam(const Module& module, const AdamOptions& options)
    : Optimiser(module.named_parameters()),
      options_(options),
      mean_(zeros_like(parameters_)),
      square_(zeros_like(parameters_)) {}

void Adam::step(double rate) {
  const NoGrad off_the_tape;
  ++steps_;
  const auto now = static_cast<double>(steps_);
  const AdamStep step{
      .beta1 = static_cast<float>(options_.beta1),
      .beta2 = static_cast<float>(options_.beta2),
      .eps = static_cast<float>(options_.eps),
      .weight_decay = static_cast<float>(options_.weight_decay),
      .keep = static_cast<float>(1.0 - rate * options_.decoupled_decay),
      .rate = static_cast<float>(rate / (1.0 - std::pow(options_.beta1, now))),
      .square_scale = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(options_.beta2, now)))};
  Waiting waiting;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    waiting.add(parameters_[i].tensor, masters_.empty() ? Tensor() : masters_[i], mean_[i],
                square_[i]);
  if (!waiting.gpu.empty()) gpu::adam(step, waiting.gpu);
  for (const gpu::Updated& own : waiting.cpu) {
    op::dispatch_real(own.parameter.dtype(), "attn::nn::Adam::step", [&](auto zero) {
      using T = decltype(zero);
      update(own.parameter.numel(), step, own.grad.data<T>(), own.parameter.mutable_data<T>(),
             own.first.mutable_data<T>(), own.second.mutable_data<T>());
    });
    round_master(own);
  }
}

std::vector<NamedTensor> Adam::state() {
  std::vector<NamedTensor> all;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    all.push_back({parameters_[i].name + ".mean", mean_[i]});
    all.push_back({parameters_[i].name + ".square", square_[i]});
  }
  add_masters(all);
  return all;
}

Adam adam_w(const Module& module, double decay, AdamOptions options) {
  options.decoupled_decay = decay;
  return Adam(module, options);
}

namespace {

/// The sum of squares in blocks, whose sums are added in order.
double sum_of_squares(const Tensor& x) {
  if (x.dtype() == DType::f64) return sum(square(x)).item();
  if (op::is_half(x.dtype())) return sum_of_squares(x.to(DType::f32));
  const std::int64_t blocks = (x.numel() + op::kGrain - 1) / op::kGrain;
  std::vector<float> parts(static_cast<std::size_t>(blocks));
  const auto* numbers = x.data<float>();
  op::in_blocks(x.numel(), op::kGrain, [&](std::int64_t begin, std::int64_t end) {
    parts[static_cast<std::size_t>(begin / op::kGrain)] =
        cpu::pointwise_table().sum_of_squares(end - begin, numbers + begin);
  });
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

}  // namespace

double clip_gradients(const Module& module, double most) {
  const NoGrad off_the_tape;
  std::vector<Tensor> grads;
  std::vector<Tensor> gpu_grads;
  for (const Tensor& parameter : module.parameters())
    if (parameter.grad().defined())
      (op::on_gpu(parameter) ? gpu_grads : grads).push_back(parameter.grad().contiguous());
  double total = gpu_grads.empty() ? 0.0 : gpu::sum_of_squares(gpu_grads);
  for (const Tensor& grad : grads) total += sum_of_squares(grad);
  const double norm = std::sqrt(total);
  if (!(norm > most)) return norm;
  const double factor = most / (norm + 1e-6);
  // In place: a leaf's gradient belongs to it alone.
  if (!gpu_grads.empty()) gpu::scale(factor, gpu_grads);
  for (Tensor& grad : grads) {
    if (op::is_half(grad.dtype())) {
      grad.copy_from(grad.to(DType::f32) * factor);
    } else {
      cpu::unary_forward(cpu::UnaryOp::affine, factor, 0.0, grad, grad);
    }
  }
  return norm;
}

}  // namespace attn::nn
