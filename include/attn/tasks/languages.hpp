/// Languages of a translation: from which into which, as one word ("it", "zh-en", "fr+de+es"),
/// and how a model that writes several is told which.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks {

/// Languages by their two letters.
struct Languages {
  std::string from = "en";
  std::vector<std::string> to;

  bool has(std::string_view target) const;
  /// Whether a text has to say which language is wanted.
  bool chooses() const { return to.size() > 1; }
};

/// Of "[FROM-]TO[+TO...]"; FROM is English where it is not said.
Languages languages_of(std::string_view name);

/// What a text for a model of several languages begins with: ">>fr<< ", as OPUS-MT has it.
std::string mark_of(std::string_view language);

/// The language that a text asks for with such a mark, which is taken off; "": none.
std::string take_mark(std::string_view& text);

/// Whether more characters of a text are Chinese than any other letters.
bool is_chinese(std::string_view text);

}  // namespace attn::tasks
