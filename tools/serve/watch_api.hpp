/// GET /api/run: the trainings that `attn serve --watch` names, as they stand.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "tools/serve/message.hpp"
#include "tools/serve/service.hpp"

namespace attn::serve {

/// Reads the folders that the service was started with, and nothing else: a request names none.
Plan watch_runs(const Service& service, const Request& request);

/// One of them: where it is, its curves, its latest answers. Never throws: a folder that cannot
/// be read says so in "error".
nlohmann::json run_json(const std::filesystem::path& folder);

}  // namespace attn::serve
