/// What words vote for by themselves: complement naive Bayes, which is counted, not trained.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <span>
#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks::classify {

/// How much each number of a vocabulary speaks for each label, [words, labels]: minus the
/// logarithm of its share of the TF-IDF weights of all texts with another label; the mean of a
/// word's votes is 0. Rennie, Shih, Teevan and Karger, 2003 (ICML).
Tensor votes_of(std::span<const Example> texts, const text::Tokeniser& words,
                const Tensor& rarities, const std::vector<std::string>& labels);

}  // namespace attn::tasks::classify
