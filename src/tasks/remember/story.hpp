/// A story and a question about it: sentences, words, and the examples that files hold.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"

namespace attn::tasks::remember {

/// A sentence ends with . ! or ? before white space, or with its line; empty ones are left out.
std::vector<std::string_view> sentences_of(std::string_view text);

/// The words of a sentence in small letters, without punctuation.
std::vector<std::string> words_of(std::string_view sentence);

/// An answer as one token of the vocabulary: in small letters, without spaces.
std::string token_of(std::string_view answer);

/// The parts of an input; empty where there is none.
const std::string& story_of(const Input& input);
const std::string& question_of(const Input& input);

/// Which of the twenty tasks an example is of; 0: of none.
std::int64_t task_of(const Example& example);
/// The sentences of its story, from 0, that its answer follows from.
std::vector<std::int64_t> support_of(const Example& example);

/// The prepared file: task, part, number of the line in its story, sentence or question, and
/// behind a question its answer and the lines that support it. A tenth of the stories to learn
/// from is development.
Corpus parse_prepared(std::string_view text, const std::string& where);

/// A file as Weston et al. wrote theirs: "1 Mary moved to the bathroom.", and behind a question
/// a tab, its answer, a tab and the numbers of the lines that support it, which may be left
/// out. Number 1 begins a story; a tenth of the stories each is development and test.
Corpus parse_own(std::string_view text, const std::string& where);

}  // namespace attn::tasks::remember
