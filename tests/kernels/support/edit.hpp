/// Edits of problems: some of their keys, keys and values overwritten, stages added.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <vector>

#include "kernels/support/problem.hpp"

namespace attn::test {

/// Copies rows [from_first, from_first + count) of every head of a packed list whose heads have
/// `from_rows` rows to rows [to_first, ...) of one whose heads have `to_rows`.
inline void copy_rows(const std::vector<double>& from, int from_rows, int from_first,
                      std::vector<double>& to, int to_rows, int to_first, int count,
                      int channels) {
  if (channels == 0 || to_rows == 0 || from_rows == 0) return;
  const auto place = [&](int unit, int rows, int row) {
    return (static_cast<std::size_t>(unit) * static_cast<std::size_t>(rows) +
            static_cast<std::size_t>(row)) *
           static_cast<std::size_t>(channels);
  };
  const int units = static_cast<int>(to.size()) / (to_rows * channels);
  for (int unit = 0; unit < units; ++unit)
    for (int r = 0; r < count; ++r)
      for (int c = 0; c < channels; ++c)
        to[place(unit, to_rows, to_first + r) + static_cast<std::size_t>(c)] =
            from[place(unit, from_rows, from_first + r) + static_cast<std::size_t>(c)];
}

/// Rows [first, first + count) of every head, from a packed list whose heads have `rows`.
inline std::vector<double> take_rows(const std::vector<double>& from, int rows, int first,
                                     int count, int channels) {
  const std::size_t units =
      rows == 0 ? 0 : from.size() / static_cast<std::size_t>(rows * channels);
  std::vector<double> result(units * static_cast<std::size_t>(count * channels));
  copy_rows(from, rows, first, result, count, 0, count, channels);
  return result;
}

/// Fills rows [first, first + count) of every head with one number.
inline void fill_rows(std::vector<double>& list, int rows, int first, int count, int channels,
                      double value) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const int row = static_cast<int>(i / static_cast<std::size_t>(channels)) % rows;
    if (row >= first && row < first + count) list[i] = value;
  }
}

}  // namespace attn::test
