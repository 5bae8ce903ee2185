/// What a corpus of texts gives away without a model: the scores a model has to beat.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"

namespace attn::tasks {

/// Of the test part. BLEU: the source itself, and the target of the nearest training source.
std::vector<Baseline> translation_baselines(const Corpus& corpus);

/// ROUGE: the first ten words, without "X is a" before them; the nearest training target.
std::vector<Baseline> summary_baselines(const Corpus& corpus);

}  // namespace attn::tasks
