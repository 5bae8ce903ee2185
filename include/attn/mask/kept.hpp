/// What masks share: the type of their answers and whole-number division that lanes can do.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <utility>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"
#include "attn/core/site.hpp"

namespace attn::mask {

/// What comparing positions gives: bool, or one condition a lane.
template <class V>
using Kept = decltype(std::declval<Index<V>>() <= std::declval<Index<V>>());

/// floor(k / divisor) for k >= 0.
ATTN_FN int quotient(int k, int divisor) {
  return k / divisor;
}

template <class I>
ATTN_FN I quotient(I k, int divisor) {
  if (divisor == 1) return k;
  // floor(2^32 / divisor) is short by less than one part, so the estimate is by at most one.
  const auto inverse = static_cast<std::uint32_t>((std::uint64_t{1} << 32) /
                                                  static_cast<std::uint64_t>(divisor));
  const I estimate = multiply_high(k, I(static_cast<int>(inverse)));
  const I rest = k - multiply_low(estimate, I(divisor));
  return select(rest >= I(divisor), estimate + I(1), estimate);
}

/// k - divisor * floor(k / divisor) for k >= 0.
template <class I>
ATTN_FN I remainder(I k, int divisor) {
  return k - quotient(k, divisor) * I(divisor);
}

}  // namespace attn::mask
