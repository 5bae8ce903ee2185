/// The slopes that the ALiBi paper gives to the heads.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::score {

/// slopes[0, heads): with p the largest power of two <= heads, 2^(-8 n / p) for n = 1..p, then
/// every second slope of the list for 2p, from its first on.
/// Press, Smith and Lewis, 2022, arXiv:2108.12409.
template <class T>
void fill_alibi_slopes(T* slopes, int heads) {
  int power = 1;
  while (2 * power <= heads) power *= 2;
  for (int h = 0; h < heads; ++h) {
    const double exponent =
        h < power ? -8.0 * (h + 1) / power : -4.0 * (2 * (h - power) + 1) / power;
    slopes[h] = static_cast<T>(std::exp2(exponent));
  }
}

}  // namespace attn::score
