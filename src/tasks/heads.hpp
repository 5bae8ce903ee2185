/// The weights of every head of a model for an answer.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {

/// One head: who looked (rows) at whom (columns).
struct HeadWeights {
  std::string part;  ///< "encoder" and "decoder" look at themselves, "cross" at the source
  std::int64_t layer = 1;  ///< from 1
  std::int64_t head = 1;   ///< from 1
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<float> weights;  ///< [rows, columns]
};

/// The answer is read again, all steps at once, as `steering` steered it. Rows of the target
/// are the tokens it wrote and the end, each looking from the place before it; columns of the
/// decoder are what it had read, the beginning first. Nothing for a model without heads.
std::vector<HeadWeights> heads(const PairModel& model, const Answer& answer,
                               const models::Steering& steering = {});

/// The labels of tokens, as pictures show them.
std::vector<std::string> labels(const text::Tokeniser& tokeniser,
                                const std::vector<std::int64_t>& tokens);
/// What the rows of an answer's weights are: its tokens and the end.
std::vector<std::string> target_labels(const PairModel& model, const Answer& answer);

}  // namespace attn::tasks
