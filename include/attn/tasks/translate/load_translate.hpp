/// English to another language: Debian's package descriptions and their translations.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/debian/split.hpp"

namespace attn::tasks {

/// it, da, fr, de, es.
const std::vector<std::string>& translate_languages();

/// Pairs of sentences, parts by source package as data/splits has them. An unknown language is
/// an InvalidArgument that names those there are.
Corpus load_translate(const std::string& language, const Say& say);

/// Every pair of sentences of an index that is fit to learn from: paragraphs, items and
/// sentences at the same place where their counts agree, 3 to 40 English words, not more than
/// twice as many words on one side, not left in English. Ids are md5:place, the place counting
/// English sentences, so that they stay what they are when a translation changes.
std::vector<Candidate> translate_candidates(const DebianIndex& index);

}  // namespace attn::tasks
