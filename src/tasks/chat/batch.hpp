/// A dialogue as a model reads it: its last turns as words, and words as numbers.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/chat/layers.hpp"
#include "tasks/classify/text_batch.hpp"

namespace attn::tasks::chat {

using WordList = std::vector<std::string>;

struct Dialogue {
  std::vector<WordList> turns;  ///< the first is the user's; none is without a word
  std::vector<WordList> forms;  ///< the same in small letters
  std::size_t skipped = 0;      ///< turns before them that are not read
  bool cut = false;             ///< words of some turn are not read

  std::int64_t last() const { return static_cast<std::int64_t>(turns.size()) - 1; }
};
Dialogue dialogue_of(std::string_view text);

/// Dialogues, padded; and rows of words, each a text of its own.
classify::TextBatch batch_of(const std::vector<Dialogue>& dialogues,
                             const classify::WordTables& tables, Device device);
classify::TextBatch batch_of_rows(const std::vector<WordList>& rows,
                                  const classify::WordTables& tables, Device device);

/// Boolean [rows, columns], set one by one.
class Flags {
 public:
  Flags(std::int64_t rows, std::int64_t columns);
  void set(std::int64_t row, std::int64_t column);
  /// The first `count` of a row.
  void set_first(std::int64_t row, std::int64_t count);
  const Tensor& tensor() const { return flags_; }

 private:
  Tensor flags_;
};

/// Which dialogues (each up to a turn) and replies share which words.
class MatchMaker {
 public:
  /// `rows`: those that words are hashed to.
  explicit MatchMaker(std::int64_t rows) : rows_(rows) {}

  void add_reply(const WordList& forms) { replies_.push_back(ids_of(forms)); }
  /// Turns up to and with `last`.
  void add_dialogue(const Dialogue& dialogue, std::int64_t last);
  /// A place where no dialogue ends.
  void add_none() { add(std::vector<std::int64_t>(), std::vector<std::int64_t>()); }
  Matches matches(std::int64_t dialogues, Device device) const;

 private:
  void add(std::vector<std::int64_t> so_far, std::vector<std::int64_t> last);
  std::vector<std::int64_t> ids_of(const WordList& forms);
  Tensor table_of(const std::vector<std::vector<std::int64_t>>& rows, Device device) const;

  std::int64_t rows_;
  std::unordered_map<std::string, std::int64_t> ids_;
  std::vector<std::int64_t> bins_;
  std::vector<std::vector<std::int64_t>> so_far_;
  std::vector<std::vector<std::int64_t>> last_;
  std::vector<std::vector<std::int64_t>> replies_;
};

/// The row that a word is hashed to.
std::int64_t match_bin(std::string_view form, std::int64_t rows);

}  // namespace attn::tasks::chat
