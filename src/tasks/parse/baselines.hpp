/// How trees are judged, and what is reached without a model.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "tasks/parse/sentence.hpp"

namespace attn::tasks::parse {

/// Counts of right words, punctuation as any other.
class Attachment {
 public:
  void add(const Sentence& right, const Sentence& answer);
  /// LAS: head and relation are right; UAS: the head; tags.
  Scores scores() const;

 private:
  std::size_t words_ = 0;
  std::size_t labelled_ = 0;
  std::size_t attached_ = 0;
  std::size_t tagged_ = 0;
};

/// Of the test part, with its true tags: each word on the next, on the one before, and on the
/// nearest word of the tag that most of its kind depend on in training, on that side.
std::vector<Baseline> baselines(const Corpus& corpus);

}  // namespace attn::tasks::parse
