/// How classify is judged, and what is reached without a network.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <span>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks::classify {

/// accuracy, of labels in scope; "oos recall" where some are out of it. Of texts with slots
/// accuracy is that of label and slots together, "intent" of the label, "slot F1" of the slots.
Scores score_labels(std::span<const Example> examples, std::span<const Reply> replies);

/// The label that is answered, likeliest first given: the likeliest, or `oos` where that is one
/// of them and no other has a probability of 0.15.
const Label& answer_among(const Labels& labels);

/// The commonest label, and naive Bayes on words; with slots, the commonest tag of each word.
std::vector<Baseline> label_baselines(const Corpus& corpus);

}  // namespace attn::tasks::classify
