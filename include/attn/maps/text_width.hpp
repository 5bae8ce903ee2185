/// The width of text in a terminal, and text cut or broken to fit.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::maps {

/// What a reader sees as one character: a letter with its marks, an emoji of several.
struct Grapheme {
  std::string_view text;
  std::size_t width;  ///< columns: 0, 1 or 2
};

/// The graphemes of UTF-8, as views into `text`. Time is linear in the length.
std::vector<Grapheme> graphemes(std::string_view text);

/// Safe to print on one line: controls, line ends and marks of direction become spaces or go.
std::string on_one_line(std::string_view text);

std::size_t width_of(std::string_view text);

/// At most `width` columns; what is cut ends with "…".
std::string cut_to(std::string_view text, std::size_t width);

/// At most `count` graphemes, the last of them "…" where some are left out.
std::string shortened(std::string_view text, std::size_t count);

/// Lines of at most `width` columns, broken at spaces where there are some.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace attn::maps
