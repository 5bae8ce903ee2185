/// The one matrix product of the kernels: a few rows of C stay in registers while A is
/// broadcast and B streams by as vectors. Everything is in fp32 and fits a cache.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/kernels/cpu/lane.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// Rows and vectors of C held in registers. Two FMA ports of latency 4 need 8 chains; each row
/// broadcasts one number for kVectors products, so the load ports keep up. 16 registers hold
/// 6 x 2 sums, two vectors of B and a broadcast; 32 hold 12 x 2.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
inline constexpr int kRows = 6;
#else
inline constexpr int kRows = 12;
#endif
inline constexpr int kVectors = 2;
/// Columns of a panel of B.
inline constexpr int kPanel = kVectors * kLanes;

/// A, broadcast: element (r, k) is data[r * row + k * step].
struct Left {
  const float* data;
  std::int64_t row;
  std::int64_t step;
};
/// The same with kRows numbers of each k side by side.
// NOLINTBEGIN(readability-identifier-naming): what is a member of Left is a constant here
struct PackedLeft {
  const float* data;
  static constexpr std::int64_t row = 1;
  /// Vectors that are stored one behind the other overlap, but never what was stored before.
  static constexpr std::int64_t step =
      kRows <= kLanes ? kRows : (kRows + kLanes - 1) / kLanes * kLanes;
};
// NOLINTEND(readability-identifier-naming)
/// B: row k starts at data + k * stride and has whole vectors of columns.
struct Right {
  const float* data;
  std::int64_t stride;

  /// The first kV vectors of a row.
  template <int kV>
  ATTN_FN void row(Lane (&columns)[kV]) const {
#pragma GCC unroll 8
    for (int v = 0; v < kV; ++v) columns[v] = Lane::load(data + v * kLanes);
  }
};
/// B in half of the memory, if its numbers are exact in bf16: a word holds column c in its low
/// half and column c + kLanes in its high one, so that a vector of words becomes two of floats
/// by a shift and a mask.
struct NarrowRight {
  const std::uint32_t* data;
  std::int64_t stride;

  template <int kV>
  ATTN_FN void row(Lane (&columns)[kV]) const {
    static_assert(kV <= 2);
    const simd::RebindToUnsigned<FloatTag> words;
    const auto both = simd::LoadU(words, data);
    columns[0] = Lane(simd::BitCast(FloatTag(), simd::ShiftLeft<16>(both)));
    if constexpr (kV > 1)
      columns[1] =
          Lane(simd::BitCast(FloatTag(), simd::And(both, simd::Set(words, 0xFFFF0000u))));
  }
};

/// What a pair of numbers adds to a sum: their product, or the square of their difference.
enum class Inner { product, square };

/// c[r][j] = sum over k of a(r, k) * b[k][j], added to what c held if kAdd.
template <int kR, int kV, bool kAdd, Inner kInner, class A, class B>
ATTN_FN void multiply_block(int depth, A a, B b, float* c, std::int64_t c_stride) {
  Lane sum[kR][kV];
#pragma GCC unroll 16
  for (int r = 0; r < kR; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kV; ++v) sum[r][v] = Lane(0.0f);
  const float* left = a.data;
#pragma GCC unroll 2
  for (int k = 0; k < depth; ++k) {
    Lane column[kV];
    b.row(column);
#pragma GCC unroll 16
    for (int r = 0; r < kR; ++r) {
      Lane x(left[r * a.row]);
      // Kept in a register: g++ 12 would fold the broadcast into each of the kV products and
      // load it kV times, more than two load ports can do beside two products a cycle.
      if constexpr (kLanes == 16 && kV > 1) asm("" : "+v"(x.raw.raw));
#pragma GCC unroll 8
      for (int v = 0; v < kV; ++v) {
        if constexpr (kInner == Inner::product) {
          sum[r][v] = multiply_add(x, column[v], sum[r][v]);
        } else {
          const Lane apart = x - column[v];
          sum[r][v] = multiply_add(apart, apart, sum[r][v]);
        }
      }
    }
    left += a.step;
    b.data += b.stride;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kR; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kV; ++v) {
      float* to = c + r * c_stride + v * kLanes;
      if constexpr (kAdd) sum[r][v] += Lane::load(to);
      sum[r][v].store(to);
    }
}

/// The same for the rows that are left over.
template <int kV, bool kAdd, Inner kInner, int kR = kRows, class A, class B>
ATTN_FN void multiply_rows(int rows, int depth, A a, B b, float* c, std::int64_t c_stride) {
  if constexpr (kR > 0) {
    if (rows == kR) {
      multiply_block<kR, kV, kAdd, kInner>(depth, a, b, c, c_stride);
    } else {
      multiply_rows<kV, kAdd, kInner, kR - 1>(rows, depth, a, b, c, c_stride);
    }
  }
}

/// One panel of columns (`vectors` <= kVectors), any number of rows.
template <bool kAdd, Inner kInner = Inner::product, class B = Right>
[[gnu::noinline]] void multiply_panel(int rows, int vectors, int depth, Left a, B b, float* c,
                                      std::int64_t c_stride) {
  int r = 0;
  if (vectors == kVectors) {
    // A block of fewer than 4 rows waits for its own sums: it shares the rows of the one
    // before.
    const int left = rows % kRows;
    const int whole = left > 0 && left < 4 && rows > kRows ? rows - left - kRows : rows - left;
    for (; r < whole; r += kRows)
      multiply_block<kRows, kVectors, kAdd, kInner>(
          depth, Left{a.data + r * a.row, a.row, a.step}, b, c + r * c_stride, c_stride);
    while (r < rows) {
      const int count = rows - r > kRows ? (rows - r + 1) / 2 : rows - r;
      multiply_rows<kVectors, kAdd, kInner>(
          count, depth, Left{a.data + r * a.row, a.row, a.step}, b, c + r * c_stride, c_stride);
      r += count;
    }
  } else {
    for (; r < rows; r += kRows) {
      const int count = rows - r < kRows ? rows - r : kRows;
      multiply_rows<1, kAdd, kInner>(count, depth, Left{a.data + r * a.row, a.row, a.step}, b,
                                     c + r * c_stride, c_stride);
    }
  }
}

/// The same as Right for rows that lie far apart in memory: a row is asked for before its turn,
/// since no prefetcher of the hardware looks across pages.
struct FarRight {
  const float* data;
  std::int64_t stride;

  template <int kV>
  ATTN_FN void row(Lane (&columns)[kV]) const {
    constexpr int kAhead = 12;
    constexpr int kLine = 16;
#pragma GCC unroll 8
    for (int c = 0; c < kV * kLanes; c += kLine) __builtin_prefetch(data + kAhead * stride + c);
#pragma GCC unroll 8
    for (int v = 0; v < kV; ++v) columns[v] = Lane::load(data + v * kLanes);
  }
};

/// Vectors of C that a block of few rows takes, so that its sums still fill the registers and B
/// is read in longer pieces.
constexpr int vectors_for(int rows) {
  constexpr int kSums = kRows * kVectors;
  constexpr int kMost = kRows > 6 ? 8 : 4;
  const int vectors = kSums / rows;
  return vectors < kVectors ? kVectors : vectors < kMost ? vectors : kMost;
}

/// C [rows, cols] = or += A B for rows <= kRows, cols a multiple of a vector: B is read once,
/// where it lies.
template <bool kAdd, int kR = kRows, class B>
ATTN_FN void multiply_few(int rows, std::int64_t cols, int depth, Left a, B b, float* c,
                          std::int64_t c_stride) {
  if constexpr (kR > 0) {
    if (rows != kR) return multiply_few<kAdd, kR - 1>(rows, cols, depth, a, b, c, c_stride);
    constexpr int kWide = vectors_for(kR);
    std::int64_t j = 0;
    for (; j + kWide * kLanes <= cols; j += kWide * kLanes)
      multiply_block<kR, kWide, kAdd, Inner::product>(depth, a, B{b.data + j, b.stride}, c + j,
                                                      c_stride);
    for (; j < cols; j += kLanes)
      multiply_block<kR, 1, kAdd, Inner::product>(depth, a, B{b.data + j, b.stride}, c + j,
                                                  c_stride);
  }
}

/// C [rows, cols] = or += A B, cols a multiple of a vector. B is row-major.
template <bool kAdd>
ATTN_FN void multiply(int rows, int cols, int depth, Left a, Right b, float* c,
                      std::int64_t c_stride) {
  for (int j = 0; j < cols; j += kPanel) {
    const int vectors = cols - j >= kPanel ? kVectors : (cols - j) / kLanes;
    multiply_panel<kAdd>(rows, vectors, depth, a, {b.data + j, b.stride}, c + j, c_stride);
  }
}

/// B cut into panels, each [depth, kPanel], one behind the other, from a vector of columns on.
struct Panels {
  const float* data;
  int first;  ///< column, a multiple of kLanes

  /// Column `first + j` of B and those behind it in its panel.
  ATTN_FN Right from(int j, int depth) const {
    const int within = (first + j) % kPanel;
    return {data + static_cast<std::int64_t>(first + j - within) * depth + within, kPanel};
  }
  /// How many vectors that is, of `cols` columns from `first` on.
  ATTN_FN int vectors(int j, int cols) const {
    const int in_panel = kPanel - (first + j) % kPanel;
    return (cols - j < in_panel ? cols - j : in_panel) / kLanes;
  }
};

/// The same with B in panels.
template <bool kAdd, Inner kInner = Inner::product>
ATTN_FN void multiply_packed(int rows, int cols, int depth, Left a, Panels b, float* c,
                             std::int64_t c_stride) {
  for (int j = 0; j < cols;) {
    const int vectors = b.vectors(j, cols);
    multiply_panel<kAdd, kInner>(rows, vectors, depth, a, b.from(j, depth), c + j, c_stride);
    j += vectors * kLanes;
  }
}

/// The same as multiply_panel for numbers that may not be finite: what is multiplied by zero is
/// left out, so that a masked NaN stays where it is.
template <bool kAdd>
[[gnu::noinline]] void multiply_panel_skipping(int rows, int vectors, int depth, Left a,
                                               Right b, float* c, std::int64_t c_stride) {
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      float* to = c + r * c_stride + v * kLanes;
      Lane sum = kAdd ? Lane::load(to) : Lane(0.0f);
      for (int k = 0; k < depth; ++k) {
        const float x = a.data[r * a.row + k * a.step];
        if (x != 0.0f)
          sum = multiply_add(Lane(x), Lane::load(b.data + k * b.stride + v * kLanes), sum);
      }
      sum.store(to);
    }
  }
}

/// C [rows, cols] = or += A B where that is known at run time; with numbers that may not be
/// `finite`, what is multiplied by zero is left out.
ATTN_FN void multiply(bool add, bool finite, int rows, int cols, int depth, Left a, Right b,
                      float* c, std::int64_t c_stride) {
  if (finite && add) {
    multiply<true>(rows, cols, depth, a, b, c, c_stride);
  } else if (finite) {
    multiply<false>(rows, cols, depth, a, b, c, c_stride);
  } else if (add) {
    multiply_panel_skipping<true>(rows, cols / kLanes, depth, a, b, c, c_stride);
  } else {
    multiply_panel_skipping<false>(rows, cols / kLanes, depth, a, b, c, c_stride);
  }
}

}  // namespace attn::cpu::inline ATTN_TARGET
