/// How answers about pictures are judged, and what is reached without looking.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <span>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"

namespace attn::tasks::vqa {

/// Of 100: right answers, those of questions whose answer is yes or no ("yes-no") and of all
/// others ("open"); where boxes are known and the replies have weights, how much weight lies
/// inside the right one ("inside", of the level "question").
Scores score_answers(std::span<const Example> examples, std::span<const Reply> replies);

/// The commonest answer; the commonest to the same question.
std::vector<Baseline> baselines(const Corpus& corpus);

}  // namespace attn::tasks::vqa
