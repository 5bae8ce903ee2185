/// A text and a question with a blank: words, names, and the questions that verses ask.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"

namespace attn::tasks::cloze {

/// The word that stands for what is asked.
inline constexpr const char* kBlank = "_____";

/// Words and marks of punctuation, one each. A run of underscores, and XXXXX, become kBlank.
std::vector<std::string> tokens_of(std::string_view text);

/// Which words are names.
struct Names {
  std::set<std::string> common;  ///< seen in small letters
  std::set<std::string> known;   ///< seen with a capital within sentences, and more often so

  /// It begins with a capital; and it is known, or no common word.
  bool contains(const std::string& word) const;
};
Names learn_names(std::span<const std::vector<std::string>> texts);

/// The parts of an input; empty where there is none.
const std::string& text_of(const Input& input);
const std::string& question_of(const Input& input);

/// The verses of a chapter, without notes and marks of print.
std::vector<std::string> verses_of(std::string_view json, const std::string& where);

/// A question for each name that a verse has once and the ten before it have `least` times,
/// with another name among them.
std::vector<Example> questions_of(std::span<const std::string> verses, const Names& names,
                                  const std::string& chapter, std::size_t least = 2);

}  // namespace attn::tasks::cloze
