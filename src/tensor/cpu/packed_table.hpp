/// Products with a weight that many steps share: it is laid out once in panels of columns, and
/// every step streams them. A plain product would lay it out again each time, which costs as
/// much as the product where a step has few rows.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "kernels/cpu/isa_table.hpp"

namespace attn::cpu {

/// B [k, n] in panels.
struct PackedMatrix {
  std::int64_t k = 0;
  std::int64_t n = 0;
  float* panels = nullptr;  ///< `panel` columns each, [k, panel], one behind the other
  /// Instead of them: the same in half of the memory, as PackedTable::narrow makes it.
  std::uint32_t* narrow = nullptr;
};

/// Where B comes from: element (row, column) is data[row * row_stride + column *
/// column_stride], and one of the strides is 1.
struct UnpackedMatrix {
  const float* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

/// C = A B, or C += A B: A [rows, k], C [rows, n].
struct PackedArgs {
  std::int64_t rows = 0;
  const float* a = nullptr;
  std::int64_t a_stride = 0;
  float* c = nullptr;
  std::int64_t c_stride = 0;
};

struct PackedTable {
  std::int64_t panel;
  /// Fills panels [first, last).
  void (*pack)(const UnpackedMatrix& from, const PackedMatrix& to, std::int64_t first,
               std::int64_t last);
  /// `count` numbers of panels that are exact in bf16, two to a word.
  void (*narrow)(std::int64_t count, const float* panels, std::uint32_t* to);
  void (*multiply)(const PackedMatrix& b, const PackedArgs& args);
  void (*multiply_add)(const PackedMatrix& b, const PackedArgs& args);
};

/// The table of this machine.
inline const PackedTable& packed_table() {
  return best_table<PackedTable>();
}

}  // namespace attn::cpu
