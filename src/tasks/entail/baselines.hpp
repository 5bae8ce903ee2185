/// What the pairs of entail give away without a network.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"

namespace attn::tasks::entail {

/// The commonest label; naive Bayes on the words and pairs of words of the hypothesis alone;
/// and on those words with whether the premise has them.
std::vector<Baseline> baselines(const Corpus& corpus);

}  // namespace attn::tasks::entail
