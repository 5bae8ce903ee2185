/// A long text to one line: Debian's package descriptions and their synopses.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/debian/split.hpp"

namespace attn::tasks {

/// Descriptions and their synopses, parts by source package as data/splits has them.
Corpus load_summarise(const Say& say);

/// Every description that is fit to learn from: at least 15 words and at most 400, a synopsis
/// of at least three, and none before it that begins with the same 25 words. Its paragraphs are
/// joined by spaces; bullets stay. Ids are the md5.
std::vector<Candidate> summarise_candidates(const DebianIndex& index);

/// Pairs to pretrain on, from texts alone: a text without one of its sentences, and that
/// sentence. What to write, and how, can be learnt before what a synopsis is (Zhang et al.,
/// PEGASUS, 2020: gap sentences). Each sentence of 5 to 30 words among the first eight, of
/// texts that have three sentences at least, is a pair.
std::vector<Example> gap_sentences(const std::vector<Example>& texts);

}  // namespace attn::tasks
