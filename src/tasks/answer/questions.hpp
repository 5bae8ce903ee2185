/// The words of a question as the models of answer read them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep
#include "attn/text/tokeniser.hpp"

namespace attn::tasks::vqa {

/// Words of a question that are read; a longer one is cut there.
inline constexpr std::size_t kMostWords = 30;

/// Small letters, without marks, in the spelling of the data: "Which COLOUR?" -> which, color.
/// InvalidArgument for what is not UTF-8.
std::vector<std::string> words_of(std::string_view text);

/// A question as the words that a vocabulary has: those that it lacks are left out.
struct Question {
  std::vector<std::string> words;
  std::vector<std::int64_t> ids;
  std::vector<std::string> unknown;  ///< that may matter: no articles and the like
  bool cut = false;
};
Question read_question(const text::Tokeniser& vocabulary, std::string_view text);

/// The vocabulary of some questions.
text::Tokeniser learn_words(std::span<const std::string> questions);

}  // namespace attn::tasks::vqa
