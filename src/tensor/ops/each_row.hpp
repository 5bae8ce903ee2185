/// Work on the rows of a packed tensor, in parallel, and sums over rows in blocks that the
/// shape alone decides.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>

#include "tensor/cpu/pointwise_table.hpp"
#include "tensor/op.hpp"

namespace attn::op {

/// Calls run(row) for every row of `count` numbers; rows without numbers are left out.
template <class Run>
void each_row(std::int64_t rows, std::int64_t count, const Run& run) {
  if (count == 0) return;
  in_blocks(rows, std::max<std::int64_t>(1, kGrain / count),
            [&](std::int64_t begin, std::int64_t end) {
              for (std::int64_t row = begin; row < end; ++row) run(row);
            });
}

/// Rows are summed in at most kMost blocks, each into numbers of its own.
struct RowBlocks {
  static constexpr std::int64_t kMost = 64;
  std::int64_t rows;
  std::int64_t size;   ///< rows of a block
  std::int64_t count;  ///< blocks

  RowBlocks(std::int64_t all_rows, std::int64_t numbers)
      : rows(all_rows),
        size(std::max({std::int64_t{1}, kGrain / std::max<std::int64_t>(1, numbers),
                       (all_rows + kMost - 1) / kMost})),
        count((all_rows + size - 1) / size) {}

  /// Calls run(block, first row, last row + 1).
  template <class Run>
  void each(const Run& run) const {
    in_blocks(count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t block = begin; block < end; ++block)
        run(block, block * size, std::min(rows, (block + 1) * size));
    });
  }
};

/// to += from, `count` numbers in a row.
inline void accumulate(std::int64_t count, const float* from, float* to) {
  cpu::pointwise_table().accumulate(count, from, to);
}
inline void accumulate(std::int64_t count, const double* from, double* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
}

/// to[i] = the sum of parts[block, i] over the blocks, in order.
template <class T>
void sum_blocks(std::int64_t blocks, std::int64_t numbers, const T* parts, T* to) {
  std::fill_n(to, numbers, T(0));
  const std::int64_t grain =
      std::max<std::int64_t>(1024, kGrain / std::max<std::int64_t>(1, blocks));
  in_blocks(numbers, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = 0; block < blocks; ++block)
      accumulate(end - begin, parts + block * numbers + begin, to + begin);
  });
}

}  // namespace attn::op
