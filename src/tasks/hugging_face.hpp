/// Folders of Hugging Face's transformers, which users take for models of ours.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace attn::tasks {

/// Throws Unsupported, with the kind of model, if `config` is the config.json of such a folder.
void refuse_hugging_face(const nlohmann::json& config, const std::filesystem::path& folder);

}  // namespace attn::tasks
