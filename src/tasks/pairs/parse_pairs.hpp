/// Pairs out of the text of a file, whichever of the accepted formats it has.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string_view>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pairs/read_pairs.hpp"

namespace attn::tasks {

/// An example a line, with its number as id. `path` tells the format where the text does not.
std::vector<Example> parse_pairs(std::string_view text, const std::filesystem::path& path,
                                 const PairOptions& options);

}  // namespace attn::tasks
