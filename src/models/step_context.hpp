/// Steering as attention takes it: a mask of the next steps and a temperature.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/models/steering.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::models {

/// Of `steps` steps from `first`, over what was read, [batch, source, ...].
inline nn::AttentionContext step_context(const Steering& steering, std::int64_t first,
                                         std::int64_t steps, const Tensor& source) {
  if (steering.as_trained()) return {};
  return {.keep = spec::dense(steering.open(first, steps, source.size(1)).to(source.device())),
          .temperature = steering.temperature};
}

}  // namespace attn::models
