/// Clips: sound files with their texts, as users list them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

/// Lines of a sound file, a tab and its text; paths that are not absolute begin where the list
/// lies. All of them are the test part, and each is decoded when it is opened. FileError, which
/// names the line, for what is none.
Corpus clips_of(const std::filesystem::path& list);

}  // namespace attn::tasks
