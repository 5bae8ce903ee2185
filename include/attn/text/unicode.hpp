/// Unicode: UTF-8 checked and taken apart, one normal form for text, small letters.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::text {

/// The code points of UTF-8; anything else is an InvalidArgument that names the byte.
std::u32string code_points(std::string_view text);
std::string to_utf8(std::u32string_view text);

/// Unicode's white space and the four separators U+001C to U+001F.
bool is_space(char32_t c);

/// Unicode's normal form of compatibility. Time and memory are linear in the length, whatever
/// the text.
std::string nfkc(std::string_view text);

/// NFKC; then every run of white space becomes one space, and none is left at the ends.
/// Doing it twice changes nothing.
std::string normalise(std::string_view text);

/// Small letters by Unicode's full mapping, with the sigma that ends a word.
std::string lower(std::string_view text);

/// The words between runs of white space, as views into `text`.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace attn::text
