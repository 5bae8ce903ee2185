/// POST /api/step: one row of one head, with the numbers from its scores to its output.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json_fwd.hpp>

#include "attn/tasks/row_steps.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/service.hpp"

namespace attn::serve {

/// {"part", "layer", "head", "row", "rows", "columns", "query", "keys", "scale", "scores",
/// "masked", "largest", "exponentials", "sum", "factors", "weights", "values", "output"}.
nlohmann::json steps_json(const tasks::RowSteps& steps);

Plan answer_step(const Service& service, const Request& request);

}  // namespace attn::serve
