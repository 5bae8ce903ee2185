/// Vocabulary: the words that a model of chat reads and those it writes, and how they look.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <unordered_map>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/network.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/classify/text_batch.hpp"

namespace attn::tasks::chat {

/// What a line begins with that is written.
inline constexpr const char* kReply = "<reply>";
inline constexpr const char* kState = "<state>";

/// Words of the dialogues, words of replies and states, how the latter look within a sentence,
/// and, to begin with, what shared words count.
Lexicon learn_lexicon(const Corpus& corpus, std::int64_t words, std::int64_t outputs,
                      std::int64_t matches);

class Vocabulary {
 public:
  /// FileError, which begins with `where`, for a lexicon without them.
  Vocabulary(const Lexicon& lexicon, std::int64_t pieces, const std::string& where);

  const classify::WordTables& tables() const { return tables_; }
  std::int64_t words() const { return words_; }
  std::int64_t outputs() const { return outputs_.size(); }
  /// The number of a form that is written; text::Mark::unknown: it can only be copied.
  std::int64_t output_of(const std::string& form) const;
  std::string form_at(std::int64_t output) const { return outputs_.label(output); }
  /// As it looks within a sentence: "i" is "I".
  const std::string& look_of(const std::string& form) const;
  bool knows(const std::string& word) const;

 private:
  classify::WordTables tables_;
  std::int64_t words_;
  text::Tokeniser outputs_;
  std::unordered_map<std::string, std::int64_t> ids_;
  std::unordered_map<std::string, std::string> looks_;
};

}  // namespace attn::tasks::chat
