/// Reading tables of numbers that people keep: CSV with or without a header, dates too.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attn::tools {

/// Columns of text, all of the same length.
struct Csv {
  std::vector<std::string> names;  ///< of the first line, or "1", "2", ... where it has numbers
  std::vector<std::vector<std::string>> columns;

  std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
  /// The place of a column by its name, or by its number counted from 1; an error lists them.
  std::size_t find(const std::string& column) const;
};

/// Commas or semicolons or tabs, quotes doubled inside quotes, any line end. A line with
/// another number of fields is a FileError that names it.
Csv read_csv(const std::filesystem::path& path);
Csv parse_csv(std::string_view text, const std::string& where);

/// A number, or a date yyyy-mm-dd or yyyy-mm as years with a fraction. False if it is neither.
bool number_of(const std::string& text, double& number);
bool is_date(const std::string& text);

}  // namespace attn::tools
