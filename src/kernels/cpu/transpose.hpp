/// Squares of lanes turned in registers: kLanes vectors of kLanes floats. Matrices are turned
/// square by square.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/kernels/cpu/lane.hpp"

namespace attn::cpu::inline ATTN_TARGET {

static_assert(kLanes == 4 || kLanes == 8 || kLanes == 16,
              "squares are built for vectors of one, two and four blocks of 128 bits");

// Highway's own words; a block is 128 bits, four floats, and a pair is two.
namespace detail {

using PairTag = simd::Repartition<double, FloatTag>;

// clang-format off
ATTN_FN Lane interleave_lower(Lane a, Lane b) { return Lane(simd::InterleaveLower(FloatTag(), a.raw, b.raw)); }
ATTN_FN Lane interleave_upper(Lane a, Lane b) { return Lane(simd::InterleaveUpper(FloatTag(), a.raw, b.raw)); }
ATTN_FN Lane lower_halves(Lane a, Lane b) { return Lane(simd::ConcatLowerLower(FloatTag(), b.raw, a.raw)); }
ATTN_FN Lane upper_halves(Lane a, Lane b) { return Lane(simd::ConcatUpperUpper(FloatTag(), b.raw, a.raw)); }
ATTN_FN Lane swap_blocks(Lane a) { return Lane(simd::SwapAdjacentBlocks(a.raw)); }
/// Blocks 0 and 2 of a, 1 and 3 of b.
ATTN_FN Lane alternate_blocks(Lane a, Lane b) { return Lane(simd::OddEvenBlocks(b.raw, a.raw)); }
// clang-format on

/// The lower (upper) pair of each block of a, then that of b.
ATTN_FN Lane lower_pairs(Lane a, Lane b) {
  const PairTag pairs;
  return Lane(simd::BitCast(
      FloatTag(),
      simd::InterleaveLower(pairs, simd::BitCast(pairs, a.raw), simd::BitCast(pairs, b.raw))));
}
ATTN_FN Lane upper_pairs(Lane a, Lane b) {
  const PairTag pairs;
  return Lane(simd::BitCast(
      FloatTag(),
      simd::InterleaveUpper(pairs, simd::BitCast(pairs, a.raw), simd::BitCast(pairs, b.raw))));
}

/// Turns the 4 x 4 squares that the blocks of four vectors hold.
ATTN_FN void transpose_blocks(Lane* rows) {
  const Lane ab = interleave_lower(rows[0], rows[1]);
  const Lane ab_upper = interleave_upper(rows[0], rows[1]);
  const Lane cd = interleave_lower(rows[2], rows[3]);
  const Lane cd_upper = interleave_upper(rows[2], rows[3]);
  rows[0] = lower_pairs(ab, cd);
  rows[1] = upper_pairs(ab, cd);
  rows[2] = lower_pairs(ab_upper, cd_upper);
  rows[3] = upper_pairs(ab_upper, cd_upper);
}

/// In each block, the sums over the block's lanes of four vectors.
ATTN_FN Lane sum_blocks(const Lane* rows) {
  const Lane ab = interleave_lower(rows[0], rows[1]) + interleave_upper(rows[0], rows[1]);
  const Lane cd = interleave_lower(rows[2], rows[3]) + interleave_upper(rows[2], rows[3]);
  return lower_pairs(ab, cd) + upper_pairs(ab, cd);
}

}  // namespace detail

/// rows[i] lane j <-> rows[j] lane i.
template <int kSize = kLanes>
ATTN_FN void transpose(Lane (&rows)[kSize]) {
#pragma GCC unroll 4
  for (int r = 0; r < kSize; r += 4) detail::transpose_blocks(rows + r);
  if constexpr (kSize == 8) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const Lane upper = detail::upper_halves(rows[i], rows[i + 4]);
      rows[i] = detail::lower_halves(rows[i], rows[i + 4]);
      rows[i + 4] = upper;
    }
  } else if constexpr (kSize == 16) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const Lane low = detail::lower_halves(rows[i], rows[i + 8]);
      const Lane low_next = detail::lower_halves(rows[i + 4], rows[i + 12]);
      const Lane high = detail::upper_halves(rows[i], rows[i + 8]);
      const Lane high_next = detail::upper_halves(rows[i + 4], rows[i + 12]);
      rows[i] = detail::alternate_blocks(low, detail::swap_blocks(low_next));
      rows[i + 4] = detail::alternate_blocks(detail::swap_blocks(low), low_next);
      rows[i + 8] = detail::alternate_blocks(high, detail::swap_blocks(high_next));
      rows[i + 12] = detail::alternate_blocks(detail::swap_blocks(high), high_next);
    }
  }
}

/// Lane i is the sum of the lanes of rows[i].
template <int kSize = kLanes>
ATTN_FN Lane sum_each(const Lane (&rows)[kSize]) {
  if constexpr (kSize == 4) {
    return detail::sum_blocks(rows);
  } else if constexpr (kSize == 8) {
    const Lane first = detail::sum_blocks(rows);
    const Lane last = detail::sum_blocks(rows + 4);
    return detail::lower_halves(first, last) + detail::upper_halves(first, last);
  } else {
    const Lane a = detail::sum_blocks(rows);
    const Lane b = detail::sum_blocks(rows + 4);
    const Lane c = detail::sum_blocks(rows + 8);
    const Lane d = detail::sum_blocks(rows + 12);
    // Each block of `even` pairs a with c, each of `odd` b with d, in halves still to be added.
    const Lane even = detail::lower_halves(a, c) + detail::upper_halves(a, c);
    const Lane odd = detail::lower_halves(b, d) + detail::upper_halves(b, d);
    return detail::alternate_blocks(even + detail::swap_blocks(even),
                                    odd + detail::swap_blocks(odd));
  }
}

/// A matrix [rows, columns] in memory, whose rows lie `stride` apart.
struct Rectangle {
  const float* data;
  std::int64_t stride;
  std::int64_t rows;
  std::int64_t columns;
};

/// to[c * to_stride + r] = from(r, c). Each row of `to` has room for whole vectors and is
/// filled up with zeros.
ATTN_FN void transpose_matrix(const Rectangle& from, float* to, std::int64_t to_stride) {
  for (std::int64_t r = 0; r < from.rows; r += kLanes) {
    const int rows = from.rows - r < kLanes ? static_cast<int>(from.rows - r) : kLanes;
    const float* source = from.data + r * from.stride;
    std::int64_t c = 0;
    for (; rows == kLanes && c + kLanes <= from.columns; c += kLanes) {
      Lane square[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) square[i] = Lane::load(source + i * from.stride + c);
      transpose(square);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) square[i].store(to + (c + i) * to_stride + r);
    }
    for (; c < from.columns; c += kLanes) {
      const int columns =
          from.columns - c < kLanes ? static_cast<int>(from.columns - c) : kLanes;
      Lane square[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i)
        square[i] = i < rows ? Lane::load(source + i * from.stride + c, columns) : Lane(0.0f);
      transpose(square);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i)
        if (i < columns) square[i].store(to + (c + i) * to_stride + r);
    }
  }
}

}  // namespace attn::cpu::inline ATTN_TARGET
