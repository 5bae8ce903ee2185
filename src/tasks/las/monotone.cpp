// SPDX-License-Identifier: Apache-2.0

#include "tasks/las/monotone.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "attn/tasks/answer.hpp"

namespace attn::tasks::las {

void MonotoneSteps::add(const Answer& answer) {
  const auto rows = static_cast<std::int64_t>(answer.target.size());
  if (answer.weights.empty() || rows < 2) return;
  const std::int64_t frames = static_cast<std::int64_t>(answer.weights.size()) / (rows + 1);
  std::int64_t hard_before = 0;
  double soft_before = 0.0;
  bool whole = true;
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* weights = answer.weights.data() + row * frames;
    const std::int64_t hard_now = std::max_element(weights, weights + frames) - weights;
    double sum = 0.0;
    double mass = 0.0;
    for (std::int64_t frame = 0; frame < frames; ++frame) {
      sum += static_cast<double>(weights[frame]) * static_cast<double>(frame);
      mass += static_cast<double>(weights[frame]);
    }
    const double soft_now = mass > 0.0 ? sum / mass : 0.0;
    if (row > 0) {
      ++steps;
      hard += hard_now >= hard_before ? 1 : 0;
      soft += soft_now >= soft_before ? 1 : 0;
      whole = whole && hard_now >= hard_before;
    }
    hard_before = hard_now;
    soft_before = soft_now;
  }
  ++answers;
  whole_answers += whole ? 1 : 0;
}

}  // namespace attn::tasks::las
