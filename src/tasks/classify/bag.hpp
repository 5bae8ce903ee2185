/// The words of a text as one vector, in no order.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"
#include "tasks/classify/text_batch.hpp"

namespace attn::tasks::classify {

/// The sum of a text's rows, [texts, channels], over the root of their number, so that long
/// texts are no louder than short ones. rows [texts * sentences, words, channels].
Tensor plain_bag(const Tensor& rows, const TextBatch& batch);

/// Their sum by TF-IDF weights: words that are everywhere are hardly heard. rarities [words] of
/// the vocabulary.
Tensor tf_idf_bag(const Tensor& rows, const TextBatch& batch, const Tensor& rarities);

}  // namespace attn::tasks::classify
