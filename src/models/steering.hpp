/// Look as attention takes it: a mask of the next step and a temperature.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/models/look.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::models {

/// Where attention may go beside what lengths say, and how sharply.
struct Steering {
  Keep keep{};
  double temperature = 1.0;  ///< scores are divided by it

  spec::Score of(const spec::Score& score) const {
    return temperature == 1.0 ? score : score | spec::scale(1.0 / temperature);
  }
};

/// Of `steps` steps from `first`, over a source of `extent` places.
inline Steering steering(const Look& look, std::int64_t first, std::int64_t steps,
                         std::int64_t extent) {
  if (look.as_trained()) return {};
  return {spec::dense(look.open(first, steps, extent)), look.temperature};
}

}  // namespace attn::models
