/// Lesson: dialogues with the lines that are learnt from them, as numbers.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/chat/batch.hpp"
#include "tasks/chat/layers.hpp"
#include "tasks/chat/vocabulary.hpp"

namespace attn::tasks::chat {

/// A line that is to be written behind a turn.
struct Line {
  std::int64_t dialogue = 0;
  std::int64_t turn = 0;
  WordList forms;
};

/// Replies and states of some dialogues.
struct Lesson {
  std::vector<Dialogue> dialogues;
  std::vector<Line> replies;
  std::vector<Line> states;

  void add(const Example& example);
};

/// The words that are to be written, a query each; those of a dialogue side by side.
struct Queries {
  Tensor steps;    ///< i64 [dialogues, queries]: row * width + step, states behind replies
  Tensor targets;  ///< i64 [dialogues, queries]
  Tensor in_vocabulary;  ///< boolean, the same: the vocabulary has the target
  Tensor reachable;      ///< boolean, the same: it can be written or copied
  Tensor open;           ///< boolean [dialogues, queries, turns]
  Tensor matches;  ///< boolean [dialogues, queries, turns * words]: the target stands there
  std::int64_t count = 0;  ///< those counted
};
/// `reply_width` and `state_width` are steps of a row, padded.
Queries queries_of(const Lesson& lesson, const Vocabulary& vocabulary, std::int64_t turns,
                   std::int64_t words, std::int64_t reply_width, std::int64_t state_width,
                   bool copies);

/// What a line is written from: `start`, then its words.
std::vector<WordList> inputs_of(const std::vector<Line>& lines, const char* start);
/// Where each line begins, i64 [lines].
Tensor positions_of(const std::vector<Line>& lines, std::int64_t turns);

/// Which system's turn follows which of the user's, among all of the batch.
struct Choosing {
  Tensor replies;    ///< i64 [replies]: dialogue * turns + turn
  Tensor positions;  ///< i64 [dialogues, positions]: turns that are answered
  Tensor open;       ///< boolean [dialogues, positions, turns]
  Tensor right;      ///< i64 [dialogues, positions]; -1: no place
  Tensor allowed;    ///< boolean [dialogues, positions, replies]: not the right text once more
  Matches matches;
};
Choosing choosing_of(const Lesson& lesson, std::int64_t turns, std::int64_t match_rows,
                     Device device);

}  // namespace attn::tasks::chat
