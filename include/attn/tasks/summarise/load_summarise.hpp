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

}  // namespace attn::tasks
