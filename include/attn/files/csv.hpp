/// Tables as text: a row a line, fields between commas, semicolons or tabs, and a header.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::files {

/// Columns of text, all of the same length.
struct Csv {
  std::vector<std::string> names;  ///< what the first line holds
  std::vector<std::vector<std::string>> columns;
  std::vector<std::size_t> lines;  ///< where each row begins, counted from 1

  std::size_t rows() const { return lines.size(); }
  /// The index of a column by its name, or by its number counted from 1; an error lists them.
  std::size_t find(std::string_view column) const;
};

/// The separator that the first line has most of: a comma, a semicolon or a tab.
char csv_separator(std::string_view text);

/// Fields may stand between quotes, doubled inside, and then hold separators and line ends.
/// Any line end; empty lines are passed over. FileError, which begins with `where`: no line at
/// all, a quote that is never closed, or a line with another number of fields, which is named.
Csv parse_csv(std::string_view text, std::string_view where);
Csv parse_csv(std::string_view text, std::string_view where, char separator);

}  // namespace attn::files
