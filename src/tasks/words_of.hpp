/// The words of a text, to be counted.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <vector>

namespace attn::tasks {

/// Small letters without punctuation, apostrophes inside words kept: "don't"; each run of
/// digits is "0".
std::vector<std::string> words_of(std::string_view text);

}  // namespace attn::tasks
