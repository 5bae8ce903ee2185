/// Whether an alignment goes on in time, as speech does.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep
#include "attn/tasks/answer.hpp"

namespace attn::tasks::las {

/// Steps from one token to the next, spaces and the end left out, whose frame does not lie
/// before. Hard: of the frame with most weight; soft: of the mean of the frames by their
/// weights.
struct MonotoneSteps {
  std::int64_t steps = 0;
  std::int64_t hard = 0;
  std::int64_t soft = 0;
  std::int64_t answers = 0;        ///< with a step
  std::int64_t whole_answers = 0;  ///< all of whose steps are monotone, hard

  void add(const Answer& answer);
};

}  // namespace attn::tasks::las
