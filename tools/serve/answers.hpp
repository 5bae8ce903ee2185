/// A model's answers as the JSON that the page draws.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/reply.hpp"

namespace attn::serve {

/// What of an answer is told beside its text and its scores.
enum class Detail {
  none,
  weights,  ///< tokens, and where each looked
  heads,    ///< what every head looked at, too
};

/// {"answers": [...], "pieces": [{"source", "cut", "answers": [...]}], "unfamiliar", "cut",
/// "notes"}. An answer is {"text", "score", "log_probability", "finished", "cut",
/// "source_tokens", "target_tokens", "weights", "heads"}; the answers of a text in several
/// pieces have no "heads", those of its pieces do.
nlohmann::json reply_json(const tasks::PairModel& model, const tasks::Reply& reply,
                          Detail detail);

/// Weights row by row, six digits each: nobody sees more, and it is half the bytes.
nlohmann::json rows_json(std::span<const float> weights, std::size_t columns);
nlohmann::json rows_json(std::span<const double> weights, std::size_t columns);
double six_digits(double value);

}  // namespace attn::serve
