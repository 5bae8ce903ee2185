/// Reading tables of numbers that people keep: CSV with or without a header, dates too.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>
#include <string_view>

#include "attn/files/csv.hpp"

namespace attn::tools {

using files::Csv;

/// As files::parse_csv reads it. Where the first line holds numbers alone it is no header: the
/// columns are then "1", "2", ...
Csv read_csv(const std::filesystem::path& path);
Csv parse_csv(std::string_view text, const std::string& where);

/// A number, or a date yyyy-mm-dd or yyyy-mm as years with a fraction. False if it is neither.
bool number_of(const std::string& text, double& number);
bool is_date(const std::string& text);

}  // namespace attn::tools
