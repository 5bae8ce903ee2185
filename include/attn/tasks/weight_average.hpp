/// A moving average of a model's parameters, which is what is scored and saved.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <utility>
#include <vector>

#include "attn/nn/module.hpp"

namespace attn::tasks {

/// a = d a + (1 - d) w after each step, where d rises to `decay` as (1 + n) / (10 + n), so that
/// the first steps are soon forgotten.
class WeightAverage {
 public:
  WeightAverage(const nn::Module& module, double decay);

  /// After the optimiser's step number `steps`, counted from 1.
  void update(std::int64_t steps);
  /// Averages these from now on instead of the parameters: an optimiser's masters, in the same
  /// order.
  void follow(std::vector<nn::NamedTensor> numbers) { followed_ = std::move(numbers); }
  /// Exchanges the weights of the module with the average; a second call brings them back.
  void exchange();
  /// Named after the parameters, for a checkpoint.
  const std::vector<nn::NamedTensor>& state() const { return average_; }

 private:
  double decay_;
  std::vector<nn::NamedTensor> weights_;
  std::vector<nn::NamedTensor> followed_;
  std::vector<nn::NamedTensor> average_;
};

/// The averaged weights, for as long as it lives.
class WithAverage {
 public:
  explicit WithAverage(WeightAverage& average) : average_(average) { average_.exchange(); }
  ~WithAverage() { average_.exchange(); }
  WithAverage(const WithAverage&) = delete;
  WithAverage& operator=(const WithAverage&) = delete;

 private:
  WeightAverage& average_;
};

}  // namespace attn::tasks
