/// How classify reads a text: sentences of words, and the pieces of a word.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attn::tasks::classify {

/// What is read of a text at most; the rest is cut, and told.
inline constexpr std::size_t kMostSentences = 40;
inline constexpr std::size_t kMostWordsOfSentence = 40;
inline constexpr std::size_t kMostWords = kMostSentences * kMostWordsOfSentence;

/// The words between white space, punctuation at their ends apart: "e.g. (this)" is
/// "e.g", ".", "(", "this", ")". Words that are apart already stay as they are.
std::vector<std::string> words_of(std::string_view text);

/// A text as a model reads it.
struct Reading {
  std::vector<std::vector<std::string>> sentences;
  bool cut = false;  ///< something of the text is left out

  std::size_t words() const;
};
/// The words of each sentence; one that is too long becomes several.
Reading read_sentences(std::string_view text);
/// All words as one sentence.
Reading read_words(std::string_view text);

/// What a word is looked up by: NFKC, small letters, digits as 0.
std::string key_of(std::string_view word);

/// Runs of three and four letters of a key with marks at its ends, hashed to [0, buckets).
/// At least one, at most kMostPieces.
inline constexpr std::size_t kMostPieces = 24;
std::vector<std::int64_t> pieces_of(std::string_view key, std::int64_t buckets);

/// Whether a word has a digit, several capitals, one at its front, or none of that.
inline constexpr std::int64_t kShapes = 4;
std::int64_t shape_of(std::string_view word);

}  // namespace attn::tasks::classify
