/// Text from outside, made safe to show inside an error message.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::files {

/// True when the bytes are well-formed UTF-8 (no overlong forms, no surrogates).
bool is_utf8(std::string_view text);

/// Valid, printable UTF-8: control characters and bytes that are not UTF-8 become \xNN, and
/// what goes past `max_bytes` is cut at a character and becomes "...".
std::string printable(std::string_view text, std::size_t max_bytes = 200);

/// The same between double quotes.
std::string in_quotes(std::string_view text, std::size_t max_bytes = 80);
std::string path_text(const std::filesystem::path& path);

}  // namespace attn::files
