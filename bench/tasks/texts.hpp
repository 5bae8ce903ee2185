/// What the models of the bench read: the same few sentences for everyone.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "attn/tasks/pair_task.hpp"

namespace attn::bench {

/// The sentences of sentences.txt as the task has its texts: sentences, paragraphs of four for
/// one that shortens, or single words for one that spells.
std::vector<std::string> texts_for(const tasks::PairTask& task);

}  // namespace attn::bench
