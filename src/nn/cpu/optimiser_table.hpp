/// The update kernels of one instruction set.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "nn/updates.hpp"

namespace attn::cpu {

using nn::AdamStep;

struct OptimiserTable {
  /// One step for a run of numbers.
  void (*adam)(std::int64_t count, const AdamStep& step, const float* grad, float* parameter,
               float* mean, float* square);
};

}  // namespace attn::cpu
