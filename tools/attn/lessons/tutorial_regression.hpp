/// Kernel regression as tutorials show it: their curve, their noise, their three averages.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {

struct TutorialOptions {
  std::int64_t epochs = 5;
  double rate = 0.5;
  double width = 1.0;  ///< w of exp(-(x w)^2 / 2), fixed, and where learning begins
  std::uint64_t seed = 1;
};

/// What the heat map is of.
enum class TutorialHeat { none, fixed, learnt };

/// 50 points of 2 sin x + x^0.8 and noise of deviation 0.5, x between 0 and 5: a uniform
/// average, a kernel of fixed width, and one whose width was learnt by leaving each point out.
/// The figure is of the curves, or a heat map of weights.
LessonResult tutorial_regression(const TutorialOptions& options,
                                 TutorialHeat heat = TutorialHeat::none);

}  // namespace attn::tools
