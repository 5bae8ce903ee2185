// SPDX-License-Identifier: Apache-2.0

#include "tasks/las/monotone.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "tasks/las/spoken.hpp"

namespace attn::tasks::las {
namespace {

std::int64_t steps_on(const std::vector<float>& frames) {
  std::int64_t count = 0;
  for (std::size_t i = 1; i < frames.size(); ++i) count += frames[i] >= frames[i - 1] ? 1 : 0;
  return count;
}

}  // namespace

void MonotoneSteps::add(const Answer& answer) {
  const auto most = answer.numbers.find(kFramesLooked);
  const auto mean = answer.numbers.find(kMeanFrames);
  if (most == answer.numbers.end() || mean == answer.numbers.end()) return;
  const auto all = static_cast<std::int64_t>(most->second.size()) - 1;
  if (all < 1) return;
  const std::int64_t forward = steps_on(most->second);
  steps += all;
  hard += forward;
  soft += steps_on(mean->second);
  ++answers;
  whole_answers += forward == all ? 1 : 0;
}

}  // namespace attn::tasks::las
