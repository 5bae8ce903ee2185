// Products with a packed weight for one instruction set.
#include <cstdint>
#include <cstring>

#include "attn/core/macros.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "kernels/cpu/transpose.hpp"
#include "tensor/cpu/packed_table.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

/// Columns [first, first + kLanes) of B, which lie one behind the other in memory as rows of
/// its transpose, are turned square by square.
ATTN_FN void pack_turned_columns(const float* rows, std::int64_t stride, std::int64_t k,
                                 float* to) {
  std::int64_t i = 0;
  for (; i + kLanes <= k; i += kLanes) {
    Lane square[kLanes];
#pragma GCC unroll 16
    for (int r = 0; r < kLanes; ++r) square[r] = Lane::load(rows + r * stride + i);
    transpose(square);
#pragma GCC unroll 16
    for (int r = 0; r < kLanes; ++r) square[r].store(to + (i + r) * kPanel);
  }
  for (; i < k; ++i)
    for (int r = 0; r < kLanes; ++r) to[i * kPanel + r] = rows[r * stride + i];
}

void pack(const UnpackedMatrix& from, const PackedMatrix& packed, std::int64_t first,
          std::int64_t last) {
  for (std::int64_t j = first * kPanel; j < last * kPanel; j += kLanes) {
    const std::int64_t place = j % kPanel;
    float* to = packed.panels + (j - place) * packed.k + place;
    const std::int64_t left = packed.n - j;
    const float* start = from.data + j * from.column_stride;
    if (left >= kLanes && from.row_stride == 1) {
      pack_turned_columns(start, from.column_stride, packed.k, to);
      continue;
    }
    for (std::int64_t i = 0; i < packed.k; ++i) {
      const float* row = start + i * from.row_stride;
      if (left >= kLanes) {
        Lane::load(row).store(to + i * kPanel);
      } else {
        for (int r = 0; r < kLanes; ++r)
          to[i * kPanel + r] = r < left ? row[r * from.column_stride] : 0.0f;
      }
    }
  }
}

/// Words as NarrowRight reads them.
void narrow(std::int64_t count, const float* panels, std::uint32_t* to) {
  for (std::int64_t i = 0; i < count; i += kPanel)
    for (int lane = 0; lane < kLanes; ++lane) {
      std::uint32_t low;
      std::uint32_t high;
      std::memcpy(&low, panels + i + lane, sizeof(low));
      std::memcpy(&high, panels + i + lane + kLanes, sizeof(high));
      to[i / 2 + lane] = low >> 16 | (high & 0xFFFF0000u);
    }
}

/// The panel that begins with a column.
ATTN_FN Right panel_at(const PackedMatrix& b, const float* panels, std::int64_t column) {
  return {panels + column * b.k, kPanel};
}
ATTN_FN NarrowRight panel_at(const PackedMatrix& b, const std::uint32_t* panels,
                             std::int64_t column) {
  return {panels + column * b.k / 2, kPanel / 2};
}

/// The last columns, fewer than whole vectors: whole ones are made aside and cut.
template <bool kAdd, class B>
[[gnu::noinline]] void multiply_rest(B panel, const PackedMatrix& b, const PackedArgs& args,
                                     std::int64_t column) {
  alignas(64) float block[kRows * kPanel];
  const int count = static_cast<int>(b.n - column);
  const int vectors = (count + kLanes - 1) / kLanes;
  for (std::int64_t row = 0; row < args.rows; row += kRows) {
    const int rows = args.rows - row < kRows ? static_cast<int>(args.rows - row) : kRows;
    multiply_panel<false, Inner::product>(rows, vectors, static_cast<int>(b.k),
                                          {args.a + row * args.a_stride, args.a_stride, 1},
                                          panel, block, kPanel);
    for (int r = 0; r < rows; ++r) {
      float* to = args.c + (row + r) * args.c_stride + column;
      for (int c = 0; c < count; ++c)
        to[c] = kAdd ? to[c] + block[r * kPanel + c] : block[r * kPanel + c];
    }
  }
}

template <bool kAdd, class Panels>
ATTN_FN void multiply_panels(Panels panels, const PackedMatrix& b, const PackedArgs& args) {
  const std::int64_t whole = b.n - b.n % kPanel;
  for (std::int64_t column = 0; column < whole; column += kPanel)
    multiply_panel<kAdd, Inner::product>(static_cast<int>(args.rows), kVectors,
                                         static_cast<int>(b.k), {args.a, args.a_stride, 1},
                                         panel_at(b, panels, column), args.c + column,
                                         args.c_stride);
  if (whole < b.n) multiply_rest<kAdd>(panel_at(b, panels, whole), b, args, whole);
}

template <bool kAdd>
ATTN_FN void multiply_all(const PackedMatrix& b, const PackedArgs& args) {
  if (b.narrow != nullptr) {
    multiply_panels<kAdd>(static_cast<const std::uint32_t*>(b.narrow), b, args);
  } else {
    multiply_panels<kAdd>(static_cast<const float*>(b.panels), b, args);
  }
}

void multiply_packed_matrix(const PackedMatrix& b, const PackedArgs& args) {
  multiply_all<false>(b, args);
}
void multiply_add_packed_matrix(const PackedMatrix& b, const PackedArgs& args) {
  multiply_all<true>(b, args);
}

}  // namespace
}  // namespace attn::cpu::inline ATTN_TARGET

namespace attn::cpu {

template <>
const PackedTable& isa_table<PackedTable, Target::ATTN_TARGET>() {
  static constexpr PackedTable kTable{kPanel, &pack, &narrow, &multiply_packed_matrix,
                                      &multiply_add_packed_matrix};
  return kTable;
}

}  // namespace attn::cpu
