/// A model's answers as the JSON that the page draws.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "attn/models/search.hpp"
#include "attn/tasks/pair_model.hpp"

namespace attn::serve {

enum class Heads { no, yes };

/// The answers to one text, best first: [{"text", "score", "log_probability", "finished",
/// "cut", "source_tokens", "target_tokens", "weights", "heads"}]. The text is prepared as the
/// task does it; what the model cannot read of a long one is cut. Positions that it does not
/// have are an InvalidArgument.
nlohmann::json answers_json(const tasks::PairModel& model, const std::string& text,
                            const models::SearchOptions& options, Heads heads);

/// Weights row by row, six digits each: nobody sees more, and it is half the bytes.
nlohmann::json rows_json(std::span<const float> weights, std::size_t columns);
nlohmann::json rows_json(std::span<const double> weights, std::size_t columns);
double six_digits(double value);

}  // namespace attn::serve
