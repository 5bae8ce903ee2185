/// Schedules: the learning rate as a function of the step, counted from 0.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::nn {

using Schedule = std::function<double(std::int64_t step)>;

Schedule constant_rate(double rate);
/// rate * factor^(step / every).
Schedule step_rate(double rate, double factor, std::int64_t every);
/// From rate to least along half a cosine, after a linear warm-up.
Schedule cosine_rate(double rate, std::int64_t steps, std::int64_t warm_up = 0,
                     double least = 0.0);
/// Rises linearly for `warm_up` steps, then falls as 1 / sqrt(step); `rate` is the largest.
/// Vaswani et al., 2017, arXiv:1706.03762.
Schedule inverse_square_root_rate(double rate, std::int64_t warm_up);

}  // namespace attn::nn
