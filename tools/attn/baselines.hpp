/// What a corpus gives away without a model: the scores a model has to beat.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tools {

struct Baseline {
  std::string name;
  std::vector<std::pair<std::string, double>> scores;  ///< metric, 0 to 100
};

/// Of the test part. BLEU: the source itself, and the target of the nearest training source.
std::vector<Baseline> translation_baselines(const tasks::Corpus& corpus);

/// ROUGE: the first ten words, without "X is a" before them; the nearest training target.
std::vector<Baseline> summary_baselines(const tasks::Corpus& corpus);

}  // namespace attn::tools
