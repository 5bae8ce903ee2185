/// A sentence as the parser reads and writes it: words, each with a tag, a head and a relation.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks::parse {

struct Word {
  std::string form;
  std::string tag{};        ///< of the universal ones: NOUN, VERB, ...
  std::int64_t head = 0;    ///< the number of the word it depends on, from 1; 0: the root
  std::string relation{};   ///< "nsubj"
  bool space_after = true;  ///< in the text

  bool operator==(const Word&) const = default;
};

/// Words that the text writes in one: "don't" is do and n't.
struct Range {
  std::int64_t first = 1;
  std::int64_t last = 1;
  std::string form;
  bool space_after = true;

  bool operator==(const Range&) const = default;
};

struct Sentence {
  std::vector<std::string> comments{};  ///< lines that begin with #
  std::vector<Word> words{};
  std::vector<Range> ranges{};  ///< in order

  bool operator==(const Sentence&) const = default;
};

}  // namespace attn::tasks::parse
