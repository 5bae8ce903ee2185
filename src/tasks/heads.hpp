/// What a model looked at for an answer: labels, the weights of every head, and their maps.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string_view>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {

/// The labels of tokens, as pictures show them.
maps::Labels labels(const text::Tokeniser& tokeniser, const std::vector<std::int64_t>& tokens);
/// What the rows of an answer's weights are: its tokens and the end.
maps::Labels target_labels(const PairModel& model, const Answer& answer);

/// The answer is read again, all steps at once, as `steering` steered it. Rows of the target
/// are the tokens it wrote and the end, each looking from the place before it; columns of the
/// decoder are what it had read, the beginning first. Nothing for a model without heads.
std::vector<maps::Head> heads(const PairModel& model, const Answer& answer,
                              const models::Steering& steering = {});

/// The source across, the answer down. InvalidArgument for a model without attention.
maps::Alignment answer_map(const PairModel& model, const Answer& answer);

/// Every head of every layer, as heads() has them, or of one part: "encoder", "decoder",
/// "cross". InvalidArgument for a model without heads.
maps::Heads heads_map(const PairModel& model, const Answer& answer,
                      const models::Steering& steering = {}, std::string_view part = {});

}  // namespace attn::tasks
