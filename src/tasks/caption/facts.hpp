/// What `attn data caption` tells of its canvases.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

nlohmann::json facts_json(const Corpus& corpus, std::span<const Example> samples);
std::string facts_text(const Corpus& corpus);

}  // namespace attn::tasks
