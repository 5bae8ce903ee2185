/// The word error rate of transcripts.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks {

/// Small letters without marks; a hyphen parts words, an apostrophe does not: "Don't, ill-fed"
/// has don't, ill, fed.
std::vector<std::string> spoken_words(std::string_view text);

/// Insertions, deletions and substitutions, and the words of the references.
struct WordErrors {
  std::int64_t edits = 0;
  std::int64_t words = 0;

  /// For a hundred words of the references; 0 where neither has any.
  double rate() const;
  void add(std::string_view reference, std::string_view transcript);
};

}  // namespace attn::tasks
