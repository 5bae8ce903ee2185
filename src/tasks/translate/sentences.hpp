/// A text as the pieces a translator reads: sentences, and parts of those that are too long.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/text/tokeniser.hpp"

namespace attn::tasks {

/// The sentences of a text of one line: cut behind a full stop, question mark or exclamation
/// mark that a space and no small letter follow. "e.g." and initials end none.
std::vector<std::string> sentences(std::string_view text);

/// The sentences, those of more than `most` tokens cut at spaces, or inside words where there
/// are none.
std::vector<std::string> split_for(const text::Tokeniser& tokeniser, std::int64_t most,
                                   std::string_view text);

}  // namespace attn::tasks
