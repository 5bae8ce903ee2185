/// The sizes of a captioner as JSON, in config.json and training.json.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "attn/models/captioner.hpp"

namespace attn::tasks {

/// Without vocabulary and side, which are the grammar's and the canvas's.
nlohmann::json json_of(const models::CaptionerOptions& options);
/// FileError unless every size is there and in its bounds.
models::CaptionerOptions captioner_options(const nlohmann::json& json,
                                           const std::string& where);

}  // namespace attn::tasks
