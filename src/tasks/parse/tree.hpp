/// The best tree of a sentence, from the score of every arc.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <vector>

namespace attn::tasks::parse {

/// Heads 0 (the root) to `words` of each word, so that the sum of scores [words, words + 1] is
/// largest among the trees whose root has one dependent. Chu and Liu, 1965; Edmonds, 1967; one
/// root as by Stanojević and Cohen, 2021. Scores are finite; one of a word with itself is not
/// read.
std::vector<std::int64_t> best_tree(std::span<const float> scores, std::int64_t words);

/// Whether heads make a tree with one dependent of the root.
bool is_tree(std::span<const std::int64_t> heads);

}  // namespace attn::tasks::parse
