/// The update kernels of one instruction set.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

namespace attn::cpu {

/// One step of Adam for a run of numbers; decays and corrections are worked in.
struct AdamStep {
  float beta1;
  float beta2;
  float eps;           ///< keeps the width above 0
  float weight_decay;  ///< added to the gradient
  float keep;          ///< 1 - rate * decoupled decay
  float rate;          ///< over the mean's correction
  float square_scale;  ///< 1 / sqrt of the square's correction
};

struct OptimiserTable {
  void (*adam)(std::int64_t count, const AdamStep& step, const float* grad, float* parameter,
               float* mean, float* square);
};

const OptimiserTable& optimiser_table();

namespace sse4 {
const OptimiserTable& optimiser_kernels();
}
namespace avx2 {
const OptimiserTable& optimiser_kernels();
}
namespace avx512 {
const OptimiserTable& optimiser_kernels();
}
namespace neon {
const OptimiserTable& optimiser_kernels();
}

}  // namespace attn::cpu
