/// Raw text becomes sentences and words, as the English treebanks of Universal Dependencies
/// split them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string_view>
#include <vector>

#include "tasks/parse/sentence.hpp"

namespace attn::tasks::parse {

/// The sentences of UTF-8. A sentence ends behind . ! ? where a new one begins, and at a blank
/// line; one of more than `most` words is cut, behind a comma or the like where there is one.
std::vector<Sentence> split_text(std::string_view text, std::size_t most);

}  // namespace attn::tasks::parse
