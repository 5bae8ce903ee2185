/// Which examples need a rare word of their text: those that copying is for.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

/// The examples whose first target has a word that the source has too, and that the targets
/// of `train` have at most `most` times. Words are runs of three and more
/// of a to z and 0 to 9, in lower case: ROUGE's.
std::vector<Example> needing_rare_words(std::span<const Example> examples,
                                        std::span<const Example> train, std::int64_t most);

}  // namespace attn::tasks
