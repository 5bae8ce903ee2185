/// The data of the tasks on text that ship, from what is fetched to examples.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/debian/split.hpp"

namespace attn::tasks {

/// Of pronounce, from the text of index.js of npm's cmu-pronouncing-dictionary, which `where`
/// names in errors: 126,046 words, a source being the word and its targets every pronunciation,
/// phones between spaces, without stress. A word falls into its part by a hash of its letters:
/// 2 % development, 10.2 % test (12,855 words are usual).
Corpus parse_pronounce(std::string_view text, std::string_view where);

/// Languages that descriptions are translated into: it, da, fr, de, es.
const std::vector<std::string>& translate_languages();

/// What translate can be trained on: those, fr+de+es in one model, and zh-en.
const std::vector<std::string>& translate_choices();

/// Every pair of sentences of an index that is fit to learn from: paragraphs, items and
/// sentences at the same place where their counts agree, 3 to 40 English words, not more than
/// twice as many words on one side, not left in English. Ids are md5:place, the place counting
/// English sentences, so that they stay what they are when a translation changes.
std::vector<Candidate> translate_candidates(const DebianIndex& index);

/// Of summarise: every description that is fit to learn from: at least 15 words and at most
/// 400, a synopsis of at least three, and none before it that begins with the same 25 words.
/// Its paragraphs are joined by spaces; bullets stay. Ids are the md5.
std::vector<Candidate> summarise_candidates(const DebianIndex& index);

/// Pairs to pretrain on, from texts alone: a text without one of its sentences, and that
/// sentence. What to write, and how, can be learnt before what a synopsis is (Zhang et al.,
/// PEGASUS, 2020: gap sentences). Each sentence of 5 to 30 words among the first eight, of
/// texts that have three sentences at least, is a pair.
std::vector<Example> gap_sentences(const std::vector<Example>& texts);

}  // namespace attn::tasks
