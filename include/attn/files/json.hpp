/// JSON from outside: parsed with limits, asked with checks, written whole or not at all.
/// To walk a value, include <nlohmann/json.hpp> as well.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::files {

struct JsonLimits {
  /// A tree takes up to some thirty times its text ("[[],[],...").
  std::size_t max_bytes = std::size_t{64} << 20;
  /// Arrays and objects inside each other.
  std::size_t max_depth = 64;
};

/// The value of `text`. Beyond the limits, not UTF-8, not JSON, or a key twice in one object:
/// a FileError that begins with `where` (a file name, "request") and gives line and column.
nlohmann::json parse_json(std::string_view text, std::string_view where,
                          const JsonLimits& limits = {});

nlohmann::json read_json(const std::filesystem::path& path, const JsonLimits& limits = {});

/// Indented text, replaced atomically. What could not be read back equal is InvalidArgument
/// and nothing is written: NaN and infinities, text that is not UTF-8, too deep, binary.
void write_json(const std::filesystem::path& path, const nlohmann::json& value);

/// The member `key` of an object; FileError, not nlohmann's own, when there is none.
const nlohmann::json& member(const nlohmann::json& object, std::string_view key,
                             std::string_view where);

/// The value of one kind; anything else (a fraction for an integer, an integer past 2^63 - 1)
/// is a FileError that begins with `where`. A double may be written as an integer.
std::int64_t to_int(const nlohmann::json& value, std::string_view where);
double to_double(const nlohmann::json& value, std::string_view where);
bool to_bool(const nlohmann::json& value, std::string_view where);
const std::string& to_text(const nlohmann::json& value, std::string_view where);

}  // namespace attn::files
