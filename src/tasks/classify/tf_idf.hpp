/// How much each word of a text counts in its bag: TF-IDF, weights of length 1.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <span>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/classify/text_batch.hpp"

namespace attn::tasks::classify {

/// 1 + log(texts / texts with it) of each number of a vocabulary, [words]. Marks, the unknown
/// word among them, count as words of one text. Sparck Jones, 1972.
Tensor rarities_of(std::span<const Example> texts, const text::Tokeniser& words);

/// The weight of each word of a batch, texts * sentences * words numbers, 0 behind the end of a
/// sentence: a word that a text has c times weighs (1 + log c) times its rarity, shared by its
/// c places, and the squares of the different words' weights have the sum 1.
std::vector<float> tf_idf_weights(const TextBatch& batch, std::span<const float> rarities);

}  // namespace attn::tasks::classify
