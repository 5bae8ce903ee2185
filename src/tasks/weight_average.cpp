#include "attn/tasks/weight_average.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "attn/core/thread_pool.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {
namespace {

/// Calls work(begin, end) for all of [0, count) in blocks that are cut by size alone.
template <class Work>
void in_blocks(std::int64_t count, const Work& work) {
  constexpr std::int64_t kBlock = 1 << 16;
  const auto tasks = static_cast<int>((count + kBlock - 1) / kBlock);
  ThreadPool::shared().parallel_for(tasks, ThreadPool::default_threads(), [&](int task) {
    const std::int64_t begin = task * kBlock;
    work(begin, std::min(count, begin + kBlock));
  });
}

}  // namespace

WeightAverage::WeightAverage(const nn::Module& module, double decay)
    : decay_(decay), weights_(module.named_parameters()) {
  average_.reserve(weights_.size());
  for (const auto& [name, tensor] : weights_)
    average_.push_back({name, tensor.detach().clone()});
}

void WeightAverage::update(std::int64_t steps) {
  const auto n = static_cast<double>(steps);
  const auto share = static_cast<float>(1.0 - std::min(decay_, (1.0 + n) / (10.0 + n)));
  const NoGrad off_the_tape;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const auto* weight = weights_[i].tensor.data<float>();
    auto* average = average_[i].tensor.mutable_data<float>();
    in_blocks(weights_[i].tensor.numel(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j = begin; j < end; ++j) average[j] += share * (weight[j] - average[j]);
    });
  }
}

void WeightAverage::exchange() {
  const NoGrad off_the_tape;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    auto* weight = weights_[i].tensor.mutable_data<float>();
    auto* average = average_[i].tensor.mutable_data<float>();
    in_blocks(weights_[i].tensor.numel(), [&](std::int64_t begin, std::int64_t end) {
      std::swap_ranges(weight + begin, weight + end, average + begin);
    });
  }
}

}  // namespace attn::tasks
