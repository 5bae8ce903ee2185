/// Scores against the length of the source: what attention is for shows on long ones.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"

namespace attn::tools {

/// Examples of like length, in characters of the source.
struct LengthBin {
  std::size_t shortest = 0;
  std::size_t longest = 0;
  double mean = 0.0;
  std::vector<tasks::Example> examples;
};

/// The examples from short to long in `count` bins of as many each, as far as that goes; fewer
/// where there are fewer examples. None is empty.
std::vector<LengthBin> length_bins(const std::vector<tasks::Example>& examples,
                                   std::size_t count = 10);

/// Leaves sources of up to `most` characters to learn from, and of up to twice as many to be
/// tested on.
void train_to(tasks::Corpus& corpus, std::size_t most);

/// The scores of one contender, one a bin.
struct LengthCurve {
  std::string about;
  std::vector<double> scores;
};

std::vector<double> scores_by_length(const tasks::Task& task, const tasks::Model& model,
                                     const std::vector<LengthBin>& bins,
                                     const std::string& metric);

/// A line a contender; `trained_to` marks the longest source learnt from, 0: none.
maps::Training lengths_map(const std::string& data, const std::string& metric,
                           const std::vector<LengthBin>& bins,
                           const std::vector<LengthCurve>& curves, std::size_t trained_to);

}  // namespace attn::tools
