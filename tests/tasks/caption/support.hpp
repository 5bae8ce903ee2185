/// Digits that a test draws itself: a bar, as wide as the digit's number tells.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "attn/tasks/caption/canvas.hpp"

namespace attn::tasks::toy {

/// Ten digits, digit d being a block of 20 rows and d + 3 columns.
inline Digits digits() {
  Digits made;
  for (std::uint8_t digit = 0; digit < 10; ++digit) {
    made.labels.push_back(digit);
    for (std::int64_t y = 0; y < kDigitSide; ++y)
      for (std::int64_t x = 0; x < kDigitSide; ++x)
        made.pixels.push_back(y >= 4 && y < 24 && x >= 8 && x < 11 + digit ? 255 : 0);
  }
  return made;
}

}  // namespace attn::tasks::toy
