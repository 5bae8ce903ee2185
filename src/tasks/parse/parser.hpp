/// The network of the task parse: sentences become trees.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/parse/sentence.hpp"

namespace attn::tasks::parse {

/// Words of a sentence that are read; of a longer one the parts are parsed one by one.
inline constexpr std::size_t kMostWords = 256;
/// Words of a text that are read at a time.
inline constexpr std::size_t kMostOfText = 100000;

/// An example whose words are given: the part "words" has them between spaces, and the target
/// "TAG:HEAD:RELATION" of each.
Example example_of(const Sentence& sentence, std::string id);
/// The tree of an example.
Sentence sentence_of(const Example& example);

/// The columns sentence, number, word, tag, head and relation, a row a word.
Table table_of(std::span<const Sentence> sentences);
/// The sentences of such a table; spaces are not told.
std::vector<Sentence> sentences_of(const Table& table);

/// What a parser takes over from its training part: tags, relations, characters, and the table
/// of the `most_words` commonest words that occur `rarest` times at least.
Lexicon learn_lexicon(std::span<const Example> train, std::int64_t most_words,
                      std::int64_t rarest);
/// FileError, which begins with `where`, where options and lexicon do not fit together.
std::shared_ptr<Network> make_parser(const nlohmann::json& model, Lexicon lexicon,
                                     const std::string& where);

}  // namespace attn::tasks::parse
