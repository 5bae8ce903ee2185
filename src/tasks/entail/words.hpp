/// The words of a sentence as the models of entailment read them: small letters, without
/// punctuation, and the parts of a word that an unknown one is known by.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep
#include "attn/tasks/network.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks::entail {

/// Words of one side that are read; a longer one is cut there.
inline constexpr std::size_t kMostWords = 150;

/// "The boy's dog isn't here." -> the, boy, 's, dog, is, n't, here. InvalidArgument for what is
/// not UTF-8.
std::vector<std::string> words_of(std::string_view text);

/// Its first four letters: "plays" and "playing" share them.
std::string stem_of(std::string_view word);
/// Its last three letters; "" of a word of four letters or fewer, which is its own stem.
std::string ending_of(std::string_view word);

/// The vocabularies "words", "stems" and "endings" of some texts.
Lexicon learn_words(std::span<const std::string> texts, std::int64_t most);

/// A side of a pair as numbers; each list has one for each word.
struct Sentence {
  std::vector<std::string> words;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> stems;
  std::vector<std::int64_t> endings;
  bool cut = false;         ///< it had more than kMostWords
  std::size_t unknown = 0;  ///< how many words the vocabulary does not have
};

/// Vocabularies to look words up in.
class WordTables {
 public:
  explicit WordTables(const Lexicon& lexicon);
  Sentence read(std::string_view text) const;

  std::int64_t words() const { return static_cast<std::int64_t>(words_.size()) + kMarks; }
  std::int64_t stems() const { return static_cast<std::int64_t>(stems_.size()) + kMarks; }
  std::int64_t endings() const { return static_cast<std::int64_t>(endings_.size()) + kMarks; }

 private:
  using Table = std::unordered_map<std::string, std::int64_t>;
  static constexpr std::int64_t kMarks = text::unknown + 1;

  Table words_;
  Table stems_;
  Table endings_;
};

}  // namespace attn::tasks::entail
