/// What the tasks on sentences share: one vocabulary of subwords and a small Transformer whose
/// three tables are one, scores that a model has to beat, and texts cut into sentences.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/task.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {

/// The sizes keep a model within 8 MiB of bf16.
PairTask subword_task(std::int64_t vocabulary);

/// What the test part gives away without a model. BLEU: the source itself, and the target of
/// the nearest training source.
std::vector<Baseline> translation_baselines(const Corpus& corpus);

/// ROUGE: the first ten words, without "X is a" before them; the nearest training target.
std::vector<Baseline> summary_baselines(const Corpus& corpus);

/// The sentences of a text of one line: cut behind a full stop, question mark or exclamation
/// mark that a space and no small letter follow, or a Han character. "e.g." and initials end
/// none.
std::vector<std::string> sentences(std::string_view text);

/// The sentences, those of more than `most` tokens cut at spaces, or inside words where there
/// are none.
std::vector<std::string> split_for(const text::Tokeniser& tokeniser, std::int64_t most,
                                   std::string_view text);

}  // namespace attn::tasks
