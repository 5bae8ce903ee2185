/// Whether the words of a transcript may be made up: a model that knows English alone writes
/// words whatever it hears.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "attn/tasks/transcribe/transcript.hpp"

namespace attn::tasks {

/// The share of runs of three words that stood before in the same window, capitals and marks
/// left out; 0 of fewer than four words.
double repeated_share(const std::vector<SpokenWord>& words);

/// Why the words may be made up, a sentence; "": nothing speaks against them. The thresholds
/// and their false rates are those of docs/tasks/transcribe.md.
std::string doubt_of(const Certainty& certainty);

}  // namespace attn::tasks
