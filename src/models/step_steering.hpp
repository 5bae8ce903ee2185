/// Steering as attention takes it: a mask of the next step and a temperature.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/models/steering.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

/// Where attention may go beside what lengths say, and how sharply.
struct StepSteering {
  Keep keep{};
  double temperature = 1.0;  ///< scores are divided by it

  spec::Score of(const spec::Score& score) const {
    return temperature == 1.0 ? score : score | spec::scale(1.0 / temperature);
  }
};

/// Of `steps` steps from `first`, over what was read, [batch, source, ...].
inline StepSteering step_steering(const Steering& steering, std::int64_t first,
                                  std::int64_t steps, const Tensor& source) {
  if (steering.as_trained()) return {};
  return {spec::dense(steering.open(first, steps, source.size(1)).to(source.device())),
          steering.temperature};
}

}  // namespace attn::models
