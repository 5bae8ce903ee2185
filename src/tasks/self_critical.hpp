/// Learning from the metric itself, where the right words are not all that counts.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>

#include "attn/models/seq2seq.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/scores.hpp"

namespace attn::tasks {

/// Four answers of the model to each of the sources, drawn as likely as it thinks them. The
/// weight of one is its score less the mean score of the other three, so that the gradient of
/// the batch's loss is that of the expected score, turned round: REINFORCE with a baseline
/// (Rennie et al., 2017, arXiv:1612.00563; of the other draws, Kool et al., 2019). The model is
/// in eval().
models::Batch own_answers(const PairModel& model, Metric metric,
                          std::span<const EncodedPair> pairs, const Rows& rows,
                          std::uint64_t seed);

}  // namespace attn::tasks
