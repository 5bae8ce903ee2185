/// CoNLL-U, the plain format of treebanks: a word a line in ten columns, sentences parted by
/// blank lines.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/parse/sentence.hpp"

namespace attn::tasks::parse {

/// Whether a text is meant to be CoNLL-U: its first line that is neither blank nor a comment
/// has columns and begins with a number.
bool is_conllu(std::string_view text);

enum class Columns {
  words,  ///< forms alone are needed: what is to be parsed
  trees   ///< tag, head and relation of every word are there and make a tree
};

/// Empty nodes are left out; ranges, comments and SpaceAfter=No are read. FileError, which
/// begins with `where` and names the line, for anything else, and for a sentence of more than
/// `most` words.
std::vector<Sentence> read_conllu(std::string_view text, Columns columns,
                                  const std::string& where, std::size_t most);

/// With a line "# text = ..." where the sentence has no comments. A blank line parts sentences;
/// whoever prints the text ends it with another.
std::string to_conllu(std::span<const Sentence> sentences);

/// The sentence as it is written.
std::string text_of(const Sentence& sentence);

}  // namespace attn::tasks::parse
