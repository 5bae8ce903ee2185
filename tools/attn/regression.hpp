/// Predicting held-out points of a series: kernel regression against simpler averages.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "attn/tensor/storage.hpp"

namespace attn::tools {

/// Every point is weighed against every other.
inline constexpr std::size_t kMostPoints = 20000;

struct Points {
  std::vector<double> x;
  std::vector<double> y;
};

struct RegressionOptions {
  double test = 0.2;
  int epochs = 150;
  double rate = 0.05;
  double width = 0.0;  ///< to begin with, in units of x; 0: a rule of thumb
  std::uint64_t seed = 1;
  Device device = Device::cpu;  ///< of the kernel regression
};

struct Prediction {
  std::string name;   ///< a word, for columns
  std::string title;  ///< a phrase, for people
  std::vector<double> values;
  double rmse = 0.0;
  double mae = 0.0;
};

struct Epoch {
  double loss = 0.0;   ///< mean squared leave-one-out error before the step, in units of y
  double width = 0.0;  ///< standard deviation of the kernel after it, in units of x
};

struct Regression {
  Points train;
  Points held_out;
  std::vector<Prediction> methods;  ///< the learnt kernel last
  std::vector<Epoch> epochs;        ///< the fixed width first, then the steps of learning
  std::vector<float> weights;       ///< of the learnt kernel, [held out, train]
  Points fixed_curve;               ///< predictions at even steps, to be drawn
  Points learnt_curve;
  double first_width = 0.0;
  double last_width = 0.0;
};

/// Throws InvalidArgument unless there are points enough, kMostPoints at most, at more than one
/// place, and all numbers stay in the range that is computed in.
Regression run_regression(const Points& points, const RegressionOptions& options);

nlohmann::json json_of(const Regression& result);

}  // namespace attn::tools
