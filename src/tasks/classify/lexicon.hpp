/// What a model of classify takes over from its data: words, labels and tags, and vectors that
/// words begin with.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks::classify {

inline constexpr std::size_t kMostLabels = 4096;

/// The commonest words, those that occur twice at least, and the labels and tags of a corpus.
Lexicon learn_lexicon(const Corpus& corpus, const std::string& about, std::int64_t most_words);
/// GloVe's vectors of the words, [words, dim]; of a word that GloVe does not have, "what's",
/// the mean of its parts, and zeros where those are unknown, too.
Tensor start_of_words(const text::Tokeniser& words, std::int64_t dim, const Say& say);

}  // namespace attn::tasks::classify
