/// The one formula of rotary positions, for both devices.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/rotary.hpp"

namespace attn {

/// Turns pair c of a row: (x_a cos - x_b sin, x_a sin + x_b cos), in fp32 or wider. Both are
/// read before either is written.
template <class T>
ATTN_FN void turn_pair(RotaryPairs pairs, std::int64_t c, std::int64_t count, T cos, T sin,
                       const T* x, std::int64_t step, T* out, std::int64_t out_step) {
  using Wide = StatOf<T>;
  const bool interleaved = pairs == RotaryPairs::interleaved;
  const std::int64_t first = interleaved ? 2 * c : c;
  const std::int64_t second = interleaved ? 2 * c + 1 : c + count;
  const auto a = static_cast<Wide>(x[first * step]);
  const auto b = static_cast<Wide>(x[second * step]);
  const auto cosine = static_cast<Wide>(cos);
  const auto sine = static_cast<Wide>(sin);
  out[first * out_step] = T(a * cosine - b * sine);
  out[second * out_step] = T(a * sine + b * cosine);
}

}  // namespace attn
