/// Passages: parts of documents that a language model reads, and how a document is cut into
/// them without losing a byte.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

/// A text whose parts all lie in one part of the corpus.
struct Document {
  std::string id;
  std::string text;
  bool ends = true;  ///< whether its end is one that a writer chose
};

/// Of an example: the part "passage", and whether it begins and ends its document, which the
/// part "place" tells.
struct Excerpt {
  std::string_view text;
  bool begins = true;
  bool ends = true;
};

/// None where the input is a text to write on from.
bool is_passage(const Input& input);
Excerpt passage_of(const Input& input);

/// The document as examples of `most` bytes or little more, cut behind white space where there
/// is some. Side by side they are the document again.
std::vector<Example> cut(const Document& document, std::size_t most);

/// All passages, one behind the other: what a compressor is given.
std::string joined(std::span<const Example> passages);

/// Code points; a byte that belongs to none counts as one.
std::size_t characters(std::string_view text);

}  // namespace attn::tasks
