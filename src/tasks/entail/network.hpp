/// The network of entail: words with their features, a matcher, a small classifier.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/tasks/network.hpp"

namespace attn::tasks::entail {

struct NetworkOptions {
  std::string matching;
  std::int64_t dim = 0;     ///< of a word
  std::int64_t hidden = 0;  ///< of the matcher's states
  double dropout = 0.0;
  double word_dropout = 0.0;  ///< share of words that a training hides
};

/// "entailment", "neutral", "contradiction".
const std::vector<std::string>& labels();

inline constexpr const char* kPremise = "premise";
inline constexpr const char* kHypothesis = "hypothesis";

/// Lexicon::start may hold "words", the vectors to begin with. FileError, which begins with
/// `where`, where a vocabulary is missing.
std::shared_ptr<Network> make_network(const NetworkOptions& options, const Lexicon& lexicon,
                                      const std::string& where);

}  // namespace attn::tasks::entail
