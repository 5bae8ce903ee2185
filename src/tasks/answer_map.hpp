/// Maps of an answer: its alignment, and every head.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string_view>

#include "attn/maps/map.hpp"
#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/pair_model.hpp"

namespace attn::tasks {

/// The source across, the answer down. InvalidArgument for a model without attention.
maps::Alignment answer_map(const PairModel& model, const Answer& answer);

/// Every head of every layer, as heads() has them, or of one part: "encoder", "decoder",
/// "cross". InvalidArgument for a model without heads.
maps::Heads heads_map(const PairModel& model, const Answer& answer,
                      const models::Steering& steering = {}, std::string_view part = {});

}  // namespace attn::tasks
