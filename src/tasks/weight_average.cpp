#include "attn/tasks/weight_average.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/nn/module.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/gpu/optimiser.hpp"
#include "tensor/op.hpp"

namespace attn::tasks {
WeightAverage::WeightAverage(const nn::Module& module, double decay)
    : decay_(decay), weights_(module.named_parameters()), followed_(weights_) {
  average_.reserve(weights_.size());
  for (const auto& [name, tensor] : weights_)
    average_.push_back({name, tensor.detach().clone()});
}

void WeightAverage::update(std::int64_t steps) {
  const auto n = static_cast<double>(steps);
  const auto share = static_cast<float>(1.0 - std::min(decay_, (1.0 + n) / (10.0 + n)));
  const NoGrad off_the_tape;
  std::vector<gpu::Updated> on_gpu;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (op::on_gpu(followed_[i].tensor)) {
      on_gpu.push_back({average_[i].tensor, followed_[i].tensor, {}, {}});
      continue;
    }
    const auto* weight = followed_[i].tensor.data<float>();
    auto* average = average_[i].tensor.mutable_data<float>();
    op::in_blocks(weights_[i].tensor.numel(), op::kGrain,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t j = begin; j < end; ++j)
                      average[j] += share * (weight[j] - average[j]);
                  });
  }
  if (!on_gpu.empty()) gpu::approach(share, on_gpu);
}

void WeightAverage::exchange() {
  const NoGrad off_the_tape;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (op::on_gpu(weights_[i].tensor) || op::on_gpu(average_[i].tensor)) {
      const Tensor weights = weights_[i].tensor.detach().clone();
      weights_[i].tensor.copy_from(average_[i].tensor);
      average_[i].tensor.copy_from(weights);
      continue;
    }
    auto* weight = weights_[i].tensor.mutable_data<float>();
    auto* average = average_[i].tensor.mutable_data<float>();
    op::in_blocks(weights_[i].tensor.numel(), op::kGrain,
                  [&](std::int64_t begin, std::int64_t end) {
                    std::swap_ranges(weight + begin, weight + end, average + begin);
                  });
  }
}

}  // namespace attn::tasks
