/// Pairs to pretrain on, from texts alone.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

/// A text without one of its sentences, and that sentence: what to write, and how, can be
/// learnt before what a synopsis is (Zhang et al., PEGASUS, 2020: gap sentences). Each sentence
/// of 5 to 30 words among the first eight, of texts that have three sentences at least, is a
/// pair.
std::vector<Example> gap_sentences(const std::vector<Example>& texts);

}  // namespace attn::tasks
