// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/doubt.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "attn/tasks/transcribe/transcript.hpp"
#include "attn/tasks/transcribe/word_errors.hpp"

namespace attn::tasks {

double repeated_share(const std::vector<SpokenWord>& words) {
  std::vector<std::string> plain;
  for (const SpokenWord& word : words)
    for (std::string& part : spoken_words(word.text)) plain.push_back(std::move(part));
  if (plain.size() < 4) return 0.0;
  std::set<std::array<std::string, 3>> runs;
  for (std::size_t i = 0; i + 2 < plain.size(); ++i)
    runs.insert({plain[i], plain[i + 1], plain[i + 2]});
  const auto all = static_cast<double>(plain.size() - 2);
  return 1.0 - static_cast<double>(runs.size()) / all;
}

std::string doubt_of(const Certainty&) {
  return "";
}

}  // namespace attn::tasks
