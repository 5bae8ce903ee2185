/// Answers of a model of text pairs as the JSON that the page draws, and numbers in JSON.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/task.hpp"

namespace attn::tasks {

/// {"answers": [...], "pieces": [{"source", "cut", "answers": [...]}], "unfamiliar", "cut",
/// "notes"}. An answer is {"text", "score", "log_probability", "finished", "cut",
/// "source_tokens", "target_tokens", "weights", "heads"}; the answers of a text in several
/// pieces have no "heads", those of its pieces do.
nlohmann::json reply_json(const PairModel& model, const Reply& reply, Detail detail);

/// Weights row by row, six digits each: nobody sees more, and it is half the bytes.
nlohmann::json rows_json(std::span<const float> weights, std::size_t columns);
nlohmann::json rows_json(std::span<const double> weights, std::size_t columns);
double six_digits(double value);

}  // namespace attn::tasks
