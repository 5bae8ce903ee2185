/// Rotary position embedding: pairs of channels are turned by an angle of their position, so
/// that dot products see distances. Su et al., 2021, arXiv:2104.09864.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/args.hpp"

namespace attn {

/// Which channels make a pair.
enum class RotaryPairs {
  halves,       ///< c and c + pairs
  interleaved,  ///< 2c and 2c + 1
};

/// out = (x_a cos - x_b sin, x_a sin + x_b cos) for each pair (a, b) of the first 2 * pairs
/// channels; the others are copied.
template <class T>
struct RotaryArgs {
  View<const T, 4> x;    ///< [batch, heads, positions, channels]
  View<const T, 3> cos;  ///< [batch, positions, pairs], or [1, rows, pairs] beside `rows`
  View<const T, 3> sin;  ///< like cos
  View<const std::int64_t, 2> rows{};  ///< [batch, positions], optional: rows of cos and sin
  View<T, 4> out;                      ///< like x; may be x itself
  RotaryPairs pairs = RotaryPairs::halves;
};

/// The formula for pair c of a row, for both devices, in fp32 or wider. Both are read before
/// either is written.
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

/// Throws InvalidArgument unless sizes agree and every row exists; validate_shapes() does not
/// look at the rows, which may lie on the GPU.
template <class T>
void validate(const RotaryArgs<T>& args);
template <class T>
void validate_shapes(const RotaryArgs<T>& args);

/// For T = double, float, BFloat16 or Float16; 16-bit types are turned in fp32.
template <class T>
void rotate(const RotaryArgs<T>& args);

}  // namespace attn
