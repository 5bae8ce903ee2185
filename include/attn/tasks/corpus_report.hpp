/// What a corpus is like: sizes, lengths, repetitions, and what its parts share.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

struct Lengths {
  double mean = 0.0;
  std::size_t median = 0;
  std::size_t most = 0;  ///< 95 of 100 are not longer
  std::size_t longest = 0;
};
/// All zero when there are none.
Lengths lengths_of(std::vector<std::size_t> lengths);

/// Of sources, or of first targets.
struct SideReport {
  Lengths characters;  ///< code points
  Lengths tokens;      ///< what stands between spaces
};

struct PartReport {
  std::string name;
  std::size_t examples = 0;
  std::size_t repeated_sources = 0;  ///< examples whose source came before in the same part
  std::size_t repeated_pairs = 0;    ///< and whose first target came with it
  std::size_t more_targets = 0;      ///< examples with more than one right target
  SideReport source;
  SideReport target;
};

/// Exact repetitions between parts, counted in the held-out part.
struct LeakReport {
  std::string from;  ///< "train"
  std::string to;    ///< "test"
  std::size_t sources = 0;
  std::size_t targets = 0;  ///< first targets; short ones may well be said twice
};

struct CorpusReport {
  std::vector<PartReport> parts;  ///< train, development, test
  std::vector<LeakReport> leaks;
};

CorpusReport report_on(const Corpus& corpus);

/// Those that copying is for: the examples whose first target has a word that the source has
/// too, and that the targets of `train` have at most `most` times. Words are runs of three and
/// more of a to z and 0 to 9, in lower case: ROUGE's.
std::vector<Example> needing_rare_words(std::span<const Example> examples,
                                        std::span<const Example> train, std::int64_t most);

}  // namespace attn::tasks
