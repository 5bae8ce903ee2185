/// How common words are in everyday English.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <unordered_map>

namespace attn::tasks {

/// Words as words_of() gives them and how often each occurs, from data/everyday/en.tsv.
std::unordered_map<std::string, double> everyday_words();

}  // namespace attn::tasks
