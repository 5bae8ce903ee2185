/// Letters to phones: the CMU Pronouncing Dictionary.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string_view>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

/// The dictionary from npm's cmu-pronouncing-dictionary: 126,046 words, a source being the word
/// and its targets every pronunciation, phones between spaces, without stress. A word falls
/// into its part by a hash of its letters: 2 % development, 10.2 % test (12,855 words are
/// usual).
Corpus load_pronounce(const Say& say);

/// The same from the text of the package's index.js; `where` names it in errors.
Corpus parse_pronounce(std::string_view text, std::string_view where);

}  // namespace attn::tasks
