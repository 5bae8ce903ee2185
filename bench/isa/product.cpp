// The matrix product of the unfused path: a block of c in registers, b packed in panels, a read
// in place by broadcasts where its rows are contiguous and packed otherwise.

// SPDX-License-Identifier: Apache-2.0

#include <hwy/highway.h>

#include <cstdint>

#include "isa/functions.hpp"
#include "isa/kernels.hpp"

namespace attn::bench::ATTN_TARGET {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

// A block of c holds kRows × 2 vectors: 12 accumulators, two of b and one broadcast fill the 16
// registers of AVX2 and SSE4; AVX-512 and NEON have 32.
#if defined(ATTN_TARGET_AVX512) || defined(ATTN_TARGET_NEON)
constexpr int kRows = 12;
#else
constexpr int kRows = 6;
#endif
constexpr int kColumns = 2 * static_cast<int>(hn::MaxLanes(Tag()));

// b: 256 × 1024 floats are 1 MiB, for the outer cache; a: 96 × 256 are 96 KiB, for the second.
constexpr std::int64_t kDepth = 256;
constexpr std::int64_t kWidth = 1024;
constexpr std::int64_t kHeight = 96;
static_assert(kHeight % kRows == 0 && kWidth % kColumns == 0);

std::int64_t min(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

/// Panels of kColumns columns, depth by depth, zero beyond n.
void pack_b(const Matrix& b, std::int64_t depth, std::int64_t n, float* to) {
  for (std::int64_t j = 0; j < n; j += kColumns) {
    const std::int64_t columns = min(kColumns, n - j);
    const float* from = b.data + j * b.column;
    if (b.column == 1 && columns == kColumns) {
      for (std::int64_t p = 0; p < depth; ++p) {
        for (int c = 0; c < kColumns; ++c) to[p * kColumns + c] = from[p * b.row + c];
      }
    } else {
      for (int c = 0; c < kColumns; ++c) {
        for (std::int64_t p = 0; p < depth; ++p) {
          to[p * kColumns + c] = c < columns ? from[p * b.row + c * b.column] : 0.0f;
        }
      }
    }
    to += depth * kColumns;
  }
}

/// Panels of kRows rows, depth by depth. Reads along the rows of aᵀ, which are contiguous.
void pack_a(const Matrix& a, std::int64_t m, std::int64_t depth, float* to) {
  const std::int64_t whole = m - m % kRows;
  for (std::int64_t p = 0; p < depth; ++p) {
    const float* from = a.data + p * a.column;
    float* panel = to + p * kRows;
    for (std::int64_t i = 0; i < whole; i += kRows, panel += kRows * depth) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) panel[r] = from[(i + r) * a.row];
    }
    for (std::int64_t r = 0; r < m - whole; ++r) panel[r] = from[(whole + r) * a.row];
  }
}

/// Where a block of a is read: row r at depth p is row[r][p * step].
struct Rows {
  const float* row[kRows];
  std::int64_t step;
};

void block(const Rows& a, const float* b, std::int64_t depth, const Product& product, float* c,
           std::int64_t rows, std::int64_t columns, bool accumulate) {
  const Tag d;
  constexpr int kHalf = kColumns / 2;
  V acc[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) acc[r][0] = acc[r][1] = hn::Zero(d);

  for (std::int64_t p = 0; p < depth; ++p) {
    const V b0 = hn::Load(d, b + p * kColumns);
    const V b1 = hn::Load(d, b + p * kColumns + kHalf);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const V x = hn::Set(d, a.row[r][p * a.step]);
      acc[r][0] = hn::MulAdd(x, b0, acc[r][0]);
      acc[r][1] = hn::MulAdd(x, b1, acc[r][1]);
    }
  }

  const V alpha = hn::Set(d, product.alpha);
  if (rows == kRows && columns == kColumns) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      float* to = c + r * product.c_row;
      const V old0 = accumulate ? hn::LoadU(d, to) : hn::Zero(d);
      const V old1 = accumulate ? hn::LoadU(d, to + kHalf) : hn::Zero(d);
      hn::StoreU(hn::MulAdd(alpha, acc[r][0], old0), d, to);
      hn::StoreU(hn::MulAdd(alpha, acc[r][1], old1), d, to + kHalf);
    }
    return;
  }
  HWY_ALIGN float edge[kRows * kColumns];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    hn::Store(hn::Mul(alpha, acc[r][0]), d, edge + r * kColumns);
    hn::Store(hn::Mul(alpha, acc[r][1]), d, edge + r * kColumns + kHalf);
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t j = 0; j < columns; ++j) {
      float& to = c[r * product.c_row + j];
      to = (accumulate ? to : 0.0f) + edge[r * kColumns + j];
    }
  }
}

}  // namespace

std::int64_t product_workspace() {
  return kDepth * kWidth + kHeight * kDepth;
}

void product(const Product& x, float* workspace) {
  float* packed_b = workspace;
  float* packed_a = workspace + kDepth * kWidth;
  const bool direct = x.a.column == 1;
  for (std::int64_t jc = 0; jc < x.n; jc += kWidth) {
    const std::int64_t width = min(kWidth, x.n - jc);
    for (std::int64_t pc = 0; pc < x.k; pc += kDepth) {
      const std::int64_t depth = min(kDepth, x.k - pc);
      const bool accumulate = x.accumulate || pc > 0;
      const Matrix b{x.b.data + pc * x.b.row + jc * x.b.column, x.b.row, x.b.column};
      pack_b(b, depth, width, packed_b);
      for (std::int64_t ic = 0; ic < x.m; ic += kHeight) {
        const std::int64_t height = min(kHeight, x.m - ic);
        const Matrix a{x.a.data + ic * x.a.row + pc * x.a.column, x.a.row, x.a.column};
        if (!direct) pack_a(a, height, depth, packed_a);
        for (std::int64_t i = 0; i < height; i += kRows) {
          const std::int64_t rows = min(kRows, height - i);
          Rows from{};
          from.step = direct ? 1 : kRows;
          // Beyond the last row the last one is read again, and its result thrown away.
          for (int r = 0; r < kRows; ++r) {
            const std::int64_t row = min(r, rows - 1);
            from.row[r] = direct ? a.data + (i + row) * a.row : packed_a + i * depth + row;
          }
          for (std::int64_t j = 0; j < width; j += kColumns) {
            block(from, packed_b + j * depth, depth, x, x.c + (ic + i) * x.c_row + jc + j, rows,
                  min(kColumns, width - j), accumulate);
          }
        }
      }
    }
  }
}

}  // namespace attn::bench::ATTN_TARGET
