// Products of floats for one instruction set.
#include <cstddef>
#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "gemm/cpu/product_table.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "kernels/cpu/scratch.hpp"
#include "kernels/cpu/transpose.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

/// Numbers of A and B that one sum runs over before it is added to C. Longer products are cut
/// into even parts: where, depth alone decides, so that each number of C has the same bits
/// whatever the other extents, the cuts and the threads are. A block of rows of A of this depth
/// stays in L1 (18 KiB with AVX-512) while the panels of B stream by.
constexpr std::int64_t kDepth = 512;
/// Rows of a product that B, where it lies transposed, is not laid out for.
constexpr int kFewRows = kRows > 6 ? 8 : 4;
/// Columns of B that are laid out in panels at once, for L2.
constexpr std::int64_t kBlockColumns = 512;
static_assert(kBlockColumns % kPanel == 0);

std::int64_t min(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}
std::int64_t in_whole(std::int64_t size, std::int64_t unit) {
  return (size + unit - 1) / unit * unit;
}

/// Depth of the parts.
std::int64_t part_of(std::int64_t depth) {
  const std::int64_t parts = (depth + kDepth - 1) / kDepth;
  return parts < 2 ? depth : in_whole((depth + parts - 1) / parts, 16);
}

/// One part of the depth of a product.
struct Part {
  std::int64_t first;
  int depth;
  bool last;
};

/// Rows of A that are packed at once: where A lies transposed, its lines are then used whole.
constexpr int kGroup = 4;
constexpr int kGroupRows = kGroup * kRows;

/// Rows of the next block. One of few rows would wait for its own sums: the last two are of
/// about the same size.
int rows_of_block(std::int64_t left) {
  return static_cast<int>(left >= 2 * kRows ? kRows : left > kRows ? (left + 1) / 2 : left);
}

/// Blocks of rows of A as the kernel likes them best: at places that the compiler knows.
struct PackedRows {
  float* data;
  std::int64_t depth;

  static std::int64_t size(std::int64_t depth) {
    return kGroup * (depth * PackedLeft::step + kLanes);
  }
  ATTN_FN float* at(int block) const {
    return data + block * (depth * PackedLeft::step + kLanes);
  }
};

/// `rows` rows that lie one behind the other in memory.
ATTN_FN void pack_block(const float* from, std::int64_t stride, int rows, int depth,
                        float* to) {
  constexpr std::int64_t kStep = PackedLeft::step;
  int k = 0;
  if constexpr (kRows <= kLanes)
    for (; rows == kRows && k + kLanes <= depth; k += kLanes) {
      Lane square[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i)
        square[i] = i < kRows ? Lane::load(from + i * stride + k) : Lane(0.0f);
      transpose(square);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) square[i].store(to + (k + i) * kStep);
    }
  transpose_matrix({from + k, stride, rows, depth - k}, to + k * kStep, kStep);
}

/// The first vectors of a row, of which `rows` numbers are wanted; `whole` if more may be read.
ATTN_FN void copy_row(const float* from, int rows, bool whole, float* to) {
  for (int r = 0; r < rows; r += kLanes) {
    const int left = rows - r < kLanes ? rows - r : kLanes;
    (whole || left == kLanes ? Lane::load(from + r) : Lane::load(from + r, left)).store(to + r);
  }
}

/// At most kGroupRows rows from `row` on; gives how many.
int pack_rows(const BlockProduct& product, const Part& part, std::int64_t row,
              const PackedRows& to) {
  int sizes[kGroup] = {};
  int rows = 0;
  for (int block = 0; block < kGroup; ++block) {
    sizes[block] = rows_of_block(product.rows - row - rows);
    if (product.a.column == 1 && sizes[block] > 0)
      pack_block(product.a.at(row + rows, part.first), product.a.row, sizes[block], part.depth,
                 to.at(block));
    rows += sizes[block];
  }
  if (product.a.column == 1) return rows;
  for (int k = 0; k < part.depth; ++k) {
    const float* from = product.a.at(row, part.first + k);
    if (rows == kGroupRows && row + rows + kLanes <= product.rows) {
#pragma GCC unroll 4
      for (int block = 0; block < kGroup; ++block)
        copy_row(from + block * kRows, kRows, true, to.at(block) + k * PackedLeft::step);
    } else {
      for (int block = 0; block < kGroup; from += sizes[block++])
        copy_row(from, sizes[block], false, to.at(block) + k * PackedLeft::step);
    }
  }
  return rows;
}

/// Columns [j, j + columns) of a part of B in panels, the last filled up with zeros to whole
/// vectors.
void pack(const BlockProduct& block, const Part& part, std::int64_t j, std::int64_t columns,
          float* to) {
  const Strided& b = block.b;
  if (b.column != 1) {
    for (std::int64_t c = 0; c < columns; c += kPanel)
      transpose_matrix(
          {b.at(part.first, j + c), b.column, min(kPanel, columns - c), part.depth},
          to + c * part.depth, kPanel);
    return;
  }
  const std::int64_t whole = columns / kLanes * kLanes;
  for (int k = 0; k < part.depth; ++k) {
    const float* row = b.at(part.first + k, j);
    float* packed = to + k * kPanel;
    std::int64_t c = 0;
    for (; c < whole; c += kLanes)
      Lane::load(row + c).store(packed + c / kPanel * kPanel * part.depth + c % kPanel);
    if (c < columns)
      Lane::load(row + c, static_cast<int>(columns - c))
          .store(packed + c / kPanel * kPanel * part.depth + c % kPanel);
  }
}

/// Whole vectors made aside become `columns` numbers of C in each row.
template <bool kAdd>
ATTN_FN void put(const float* from, std::int64_t from_stride, int rows, int columns, float* c,
                 std::int64_t c_stride) {
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < columns; j += kLanes) {
      const int left = columns - j < kLanes ? columns - j : kLanes;
      float* to = c + r * c_stride + j;
      Lane sum = Lane::load(from + r * from_stride + j);
      if constexpr (kAdd) sum = Lane::load(to, left) + sum;
      sum.store(to, left);
    }
}

/// The kernel alone in a function: with less around it, the compiler has registers enough.
template <int kV, bool kAdd, class A>
[[gnu::noinline]] void multiply_whole(int depth, A a, Right b, float* c,
                                      std::int64_t c_stride) {
  multiply_block<kRows, kV, kAdd, Inner::product>(depth, a, b, c, c_stride);
}
template <int kV, bool kAdd, class A>
[[gnu::noinline]] void multiply_rest(int rows, int depth, A a, Right b, float* c,
                                     std::int64_t c_stride) {
  multiply_rows<kV, kAdd, Inner::product>(rows, depth, a, b, c, c_stride);
}
template <int kV, bool kAdd, class A>
ATTN_FN void multiply_some(int rows, int depth, A a, Right b, float* c, std::int64_t c_stride) {
  if (rows == kRows) return multiply_whole<kV, kAdd>(depth, a, b, c, c_stride);
  multiply_rest<kV, kAdd>(rows, depth, a, b, c, c_stride);
}

/// At most kRows rows and one panel.
template <bool kAdd, class A>
ATTN_FN void multiply_tile(int rows, int columns, int depth, A a, Right b, float* c,
                           std::int64_t c_stride) {
  if (columns == kPanel) {
    if constexpr (kAdd)
      for (int r = 0; r < rows; ++r)
        for (int j = 0; j < kPanel; j += 16) __builtin_prefetch(c + r * c_stride + j, 1);
    return multiply_some<kVectors, kAdd>(rows, depth, a, b, c, c_stride);
  }
  alignas(64) float tile[kRows * kPanel];
  if (columns > kLanes) {
    multiply_some<kVectors, false>(rows, depth, a, b, tile, kPanel);
  } else {
    multiply_some<1, false>(rows, depth, a, b, tile, kPanel);
  }
  put<kAdd>(tile, kPanel, rows, columns, c, c_stride);
}

void add_bias(const BlockProduct& block, std::int64_t row, int rows, std::int64_t first,
              std::int64_t columns) {
  for (int r = 0; r < rows; ++r) {
    float* to = block.c + (row + r) * block.c_stride + first;
    std::int64_t j = 0;
    for (; j + kLanes <= columns; j += kLanes)
      (Lane::load(to + j) + Lane::load(block.bias + first + j)).store(to + j);
    for (; j < columns; ++j) to[j] += block.bias[first + j];
  }
}

/// One block of rows meets the panels.
template <bool kAdd, class A>
ATTN_FN void multiply_block_of_rows(const BlockProduct& block, const Part& part,
                                    std::int64_t row, int rows, A a, std::int64_t first,
                                    std::int64_t columns, const float* panels) {
  for (std::int64_t j = 0; j < columns; j += kPanel)
    multiply_tile<kAdd>(rows, static_cast<int>(min(kPanel, columns - j)), part.depth, a,
                        Right{panels + j * part.depth, kPanel},
                        block.c + row * block.c_stride + first + j, block.c_stride);
  if (part.last && block.bias != nullptr) add_bias(block, row, rows, first, columns);
}

/// Whether A is read where it lies: with few columns that costs less than laying it out, unless
/// the rows of a block, a multiple of 1 KiB apart, meet in few sets of L1.
bool rows_in_place(const BlockProduct& block) {
  constexpr std::int64_t kMostColumns = 256;
  constexpr std::int64_t kBadStride = 256;
  if (block.columns > kMostColumns) return false;
  // Turned, it is in another line for each step: that pays for twelve rows, not for six.
  return block.a.column == 1 ? block.a.row % kBadStride != 0 : kRows > 6;
}

/// All rows meet some columns of B, which lie in panels.
template <bool kAdd>
void multiply_columns(const BlockProduct& block, const Part& part, std::int64_t first,
                      std::int64_t columns, const float* panels, const PackedRows& packed) {
  if (rows_in_place(block)) {
    for (std::int64_t row = 0; row < block.rows;) {
      const int rows = rows_of_block(block.rows - row);
      multiply_block_of_rows<kAdd>(
          block, part, row, rows,
          Left{block.a.at(row, part.first), block.a.row, block.a.column}, first, columns,
          panels);
      row += rows;
    }
    return;
  }
  for (std::int64_t row = 0; row < block.rows;) {
    const std::int64_t end = row + pack_rows(block, part, row, packed);
    for (int i = 0; row < end; ++i) {
      const int rows = rows_of_block(block.rows - row);
      multiply_block_of_rows<kAdd>(block, part, row, rows, PackedLeft{packed.at(i)}, first,
                                   columns, panels);
      row += rows;
    }
  }
}

/// Few rows and B transposed, so that both lie along the depth: lanes of sums, added up at the
/// end. Squares transposed in registers would keep the order of all other sums, but at half the
/// speed.
template <bool kAdd, int kR, int kColumns>
ATTN_FN void multiply_dots(const float* a, std::int64_t a_row, const float* b,
                           std::int64_t b_column, int depth, float* c, std::int64_t c_stride) {
  constexpr int kSums = (kR * kColumns + kLanes - 1) / kLanes * kLanes;
  Lane sum[kSums];
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i) sum[i] = Lane(0.0f);
  int k = 0;
  for (; k + kLanes <= depth; k += kLanes) {
    Lane x[kR];
#pragma GCC unroll 8
    for (int r = 0; r < kR; ++r) x[r] = Lane::load(a + r * a_row + k);
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
      const Lane y = Lane::load(b + j * b_column + k);
#pragma GCC unroll 8
      for (int r = 0; r < kR; ++r)
        sum[r * kColumns + j] = multiply_add(x[r], y, sum[r * kColumns + j]);
    }
  }
  if (k < depth) {
    const int left = depth - k;
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
      const Lane y = Lane::load(b + j * b_column + k, left);
#pragma GCC unroll 8
      for (int r = 0; r < kR; ++r)
        sum[r * kColumns + j] =
            multiply_add(Lane::load(a + r * a_row + k, left), y, sum[r * kColumns + j]);
    }
  }
  alignas(64) float total[kSums];
#pragma GCC unroll 4
  for (int i = 0; i < kSums; i += kLanes) {
    Lane some[kLanes];
#pragma GCC unroll 16
    for (int lane = 0; lane < kLanes; ++lane) some[lane] = sum[i + lane];
    sum_each(some).store(total + i);
  }
#pragma GCC unroll 8
  for (int r = 0; r < kR; ++r)
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
      float* to = c + r * c_stride + j;
      *to = kAdd ? *to + total[r * kColumns + j] : total[r * kColumns + j];
    }
}

template <bool kAdd, int kR = kFewRows>
void multiply_few_transposed(const BlockProduct& block, const Part& part, Left a) {
  if constexpr (kR > 0) {
    if (block.rows != kR) return multiply_few_transposed<kAdd, kR - 1>(block, part, a);
    constexpr int kMost = 2 * kFewRows / kR;
    constexpr int kColumns = kMost > 8 ? 8 : kMost;
    std::int64_t j = 0;
    for (; j + kColumns <= block.columns; j += kColumns)
      multiply_dots<kAdd, kR, kColumns>(a.data, a.row, block.b.at(part.first, j),
                                        block.b.column, part.depth, block.c + j,
                                        block.c_stride);
    for (; j < block.columns; ++j)
      multiply_dots<kAdd, kR, 1>(a.data, a.row, block.b.at(part.first, j), block.b.column,
                                 part.depth, block.c + j, block.c_stride);
  }
}

/// One or two rows and B as it lies: whole rows of B stream by, some at a time, and are added
/// to sums in L1.
constexpr int kStreamRows = 2;
constexpr std::int64_t kStreamColumns = 2048;

template <int kR, int kSteps>
ATTN_FN void add_rows(const float* a, std::int64_t a_row, std::int64_t a_step, const float* b,
                      std::int64_t b_row, std::int64_t columns, float* sums) {
  Lane x[kR][kSteps];
#pragma GCC unroll 8
  for (int r = 0; r < kR; ++r)
#pragma GCC unroll 8
    for (int k = 0; k < kSteps; ++k) x[r][k] = Lane(a[r * a_row + k * a_step]);
  for (std::int64_t j = 0; j < columns; j += kLanes) {
    Lane sum[kR];
#pragma GCC unroll 8
    for (int r = 0; r < kR; ++r) sum[r] = Lane::load(sums + r * kStreamColumns + j);
#pragma GCC unroll 8
    for (int k = 0; k < kSteps; ++k) {
      const Lane y = Lane::load(b + k * b_row + j);
#pragma GCC unroll 8
      for (int r = 0; r < kR; ++r) sum[r] = multiply_add(x[r][k], y, sum[r]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kR; ++r) sum[r].store(sums + r * kStreamColumns + j);
  }
}

/// `columns`: whole vectors.
template <bool kAdd, int kR>
void multiply_stream(const BlockProduct& block, const Part& part, std::int64_t columns,
                     float* sums) {
  constexpr int kSteps = kR == 1 || kRows > 6 ? 8 : 4;
  const Strided& a = block.a;
  for (std::int64_t first = 0; first < columns; first += kStreamColumns) {
    const std::int64_t count = min(kStreamColumns, columns - first);
    for (int r = 0; r < kR; ++r)
      for (std::int64_t j = 0; j < count; j += kLanes)
        Lane(0.0f).store(sums + r * kStreamColumns + j);
    int k = 0;
    for (; k + kSteps <= part.depth; k += kSteps)
      add_rows<kR, kSteps>(a.at(0, part.first + k), a.row, a.column,
                           block.b.at(part.first + k, first), block.b.row, count, sums);
    for (; k < part.depth; ++k)
      add_rows<kR, 1>(a.at(0, part.first + k), a.row, a.column,
                      block.b.at(part.first + k, first), block.b.row, count, sums);
    put<kAdd>(sums, kStreamColumns, kR, static_cast<int>(count), block.c + first,
              block.c_stride);
  }
}

/// Whether B is read where it lies. Laying it out pays for many rows only, unless its rows are
/// so short that a part of it is in order already.
bool in_place(const BlockProduct& block) {
  if (block.b.column != 1) return false;
  constexpr std::int64_t kMostRows = 144;
  if constexpr (kRows > 6) {
    constexpr std::int64_t kShort = 160;
    return block.rows <= kMostRows || block.b.row <= kShort;
  } else {
    // Blocks of fewer rows read B more often, and rows a multiple of 4 KiB apart meet in few
    // sets of L2.
    return block.rows <= (block.b.row % 1024 == 0 ? 2 * kRows : kMostRows);
  }
}

/// `columns`: whole vectors.
template <bool kAdd>
void multiply_in_place(const BlockProduct& block, const Part& part, std::int64_t columns) {
  // Prefetching costs where B lies in L2.
  const bool far = block.columns * part.depth > 1 << 17;
  // What a second block of rows reads again stays in L2.
  const std::int64_t chunk = block.rows <= kRows ? columns : 4 * kPanel;
  for (std::int64_t j = 0; j < columns; j += chunk) {
    const std::int64_t count = min(chunk, columns - j);
    const float* b = block.b.at(part.first, j);
    for (std::int64_t row = 0; row < block.rows;) {
      const int rows = rows_of_block(block.rows - row);
      const Left a{block.a.at(row, part.first), block.a.row, block.a.column};
      float* c = block.c + row * block.c_stride + j;
      if (far && row == 0) {
        multiply_few<kAdd>(rows, count, part.depth, a, FarRight{b, block.b.row}, c,
                           block.c_stride);
      } else {
        multiply_few<kAdd>(rows, count, part.depth, a, Right{b, block.b.row}, c,
                           block.c_stride);
      }
      row += rows;
    }
  }
}

struct Room {
  Room(const BlockProduct& block, std::byte* memory) {
    Scratch scratch{memory};
    const std::int64_t depth = part_of(block.depth);
    panels = scratch.take<float>(depth * in_whole(min(kBlockColumns, block.columns), kPanel));
    rows.data = scratch.take<float>(PackedRows::size(depth));
    rows.depth = depth;
    sums = scratch.take<float>(block.rows <= kStreamRows ? kStreamRows * kStreamColumns : 0);
    bytes = scratch.used;
  }
  float* panels;
  PackedRows rows;
  float* sums;
  std::size_t bytes;
};

template <bool kAdd>
void multiply_part(const BlockProduct& block, const Part& part, const Room& room) {
  std::int64_t j = 0;
  if (block.few && block.b.column != 1) {
    Left a{block.a.at(0, part.first), block.a.row, 1};
    if (block.a.column != 1) {
      a = {room.rows.data, part.depth, 1};
      for (std::int64_t r = 0; r < block.rows; ++r)
        for (int k = 0; k < part.depth; ++k)
          room.rows.data[r * part.depth + k] = *block.a.at(r, part.first + k);
    }
    multiply_few_transposed<kAdd>(block, part, a);
    j = block.columns;
  } else if (in_place(block)) {
    // What is left of a panel goes into one, so that many rows need not meet it in two steps.
    const std::int64_t unit = block.rows > kRows ? kPanel : kLanes;
    j = block.columns / unit * unit;
    if (block.rows == 1) {
      multiply_stream<kAdd, 1>(block, part, j, room.sums);
    } else if (block.rows == 2) {
      multiply_stream<kAdd, 2>(block, part, j, room.sums);
    } else {
      multiply_in_place<kAdd>(block, part, j);
    }
  }
  if (part.last && block.bias != nullptr && j > 0)
    add_bias(block, 0, static_cast<int>(block.rows), 0, j);
  // A panel that few rows meet does not leave L1.
  const std::int64_t at_once =
      block.rows <= 2 * kRows && block.b.column != 1 ? kPanel : kBlockColumns;
  for (; j < block.columns; j += at_once) {
    const std::int64_t columns = min(at_once, block.columns - j);
    pack(block, part, j, columns, room.panels);
    multiply_columns<kAdd>(block, part, j, columns, room.panels, room.rows);
  }
}

/// C = beta C.
void scale(const BlockProduct& block) {
  for (std::int64_t i = 0; i < block.rows; ++i)
    for (std::int64_t j = 0; j < block.columns; ++j)
      block.c[i * block.c_stride + j] *= block.beta;
}

void multiply_all(const BlockProduct& block, std::byte* scratch) {
  const Room room(block, scratch);
  if (block.beta != 0.0f && block.beta != 1.0f) scale(block);
  // Sums of whole rows of both, where they lie.
  const bool dots = block.few && block.a.column == 1 && block.b.column != 1;
  const std::int64_t depth = dots ? block.depth : part_of(block.depth);
  for (std::int64_t first = 0; first < block.depth; first += depth) {
    const Part part{first, static_cast<int>(min(depth, block.depth - first)),
                    first + depth >= block.depth};
    if (first > 0 || block.beta != 0.0f) {
      multiply_part<true>(block, part, room);
    } else {
      multiply_part<false>(block, part, room);
    }
  }
}

/// Few columns are few rows of the transposed product.
constexpr std::int64_t kThinRows = 512;
BlockProduct transposed(const BlockProduct& block, std::int64_t row, float* c) {
  const std::int64_t rows = min(kThinRows, block.rows - row);
  return {.rows = block.columns,
          .columns = rows,
          .depth = block.depth,
          .a = {block.b.data, block.b.column, block.b.row},
          .b = {block.a.at(row, 0), block.a.column, block.a.row},
          .c = c,
          .c_stride = kThinRows,
          .beta = block.beta,
          .few = true};
}

void multiply_thin(const BlockProduct& block, std::byte* memory) {
  Scratch scratch{memory};
  float* aside = scratch.take<float>(kFewRows * kThinRows);
  for (std::int64_t row = 0; row < block.rows; row += kThinRows) {
    const BlockProduct part = transposed(block, row, aside);
    float* c = block.c + row * block.c_stride;
    for (std::int64_t i = 0; block.beta != 0.0f && i < part.columns; ++i)
      for (std::int64_t j = 0; j < block.columns; ++j)
        aside[j * kThinRows + i] = c[i * block.c_stride + j];
    multiply_all(part, memory + scratch.used);
    for (std::int64_t i = 0; i < part.columns; ++i)
      for (std::int64_t j = 0; j < block.columns; ++j)
        c[i * block.c_stride + j] =
            aside[j * kThinRows + i] + (block.bias == nullptr ? 0.0f : block.bias[j]);
  }
}

std::size_t bytes(const BlockProduct& block) {
  if (!block.thin) return Room(block, nullptr).bytes;
  Scratch scratch;
  scratch.take<float>(kFewRows * kThinRows);
  return scratch.used + Room(transposed(block, 0, nullptr), nullptr).bytes;
}

void product(const BlockProduct& block, std::byte* scratch) {
  block.thin ? multiply_thin(block, scratch) : multiply_all(block, scratch);
}

}  // namespace
}  // namespace attn::cpu::inline ATTN_TARGET

namespace attn::cpu {

template <>
const ProductTable& isa_table<ProductTable, Target::ATTN_TARGET>() {
  static constexpr ProductTable kTable{kRows, kPanel, kFewRows, &bytes, &product};
  return kTable;
}

}  // namespace attn::cpu
