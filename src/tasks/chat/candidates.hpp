/// Replies to choose from: the right one and nine others, a fixed draw; and what choosing by
/// common words alone reaches.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks::chat {

inline constexpr std::size_t kCandidates = 10;

/// For each of the right replies ten lines, itself first. The nine others are drawn from all of
/// them by seed 1 and never equal it; where too few differ there are less than ten.
std::vector<std::string> draw_candidates(const std::vector<std::string>& right);

/// The share of 100 of examples whose right reply has the largest cosine of TF-IDF with its
/// dialogue, where documents are the turns to learn from.
double tf_idf_choice(std::span<const Example> train, std::span<const Example> part);

}  // namespace attn::tasks::chat
