// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/merge.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <vector>

#include "attn/tasks/transcribe/transcript.hpp"

namespace attn::tasks {
namespace {

/// Words may be placed a little off, and the ends of windows are heard worst.
constexpr double kSlack = 0.5;  // seconds

std::string bare(const std::string& word) {
  std::string result;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte) != 0)
      result += static_cast<char>(std::tolower(byte));
  }
  return result;
}

double middle(const SpokenWord& word) {
  return (word.begin + word.end) / 2.0;
}

}  // namespace

Joint joint_of(const std::vector<SpokenWord>& before, const std::vector<SpokenWord>& after,
               double begin, double end) {
  const auto first = static_cast<std::size_t>(
      std::find_if(before.begin(), before.end(),
                   [&](const SpokenWord& word) { return word.end > begin - kSlack; }) -
      before.begin());
  const auto last = static_cast<std::size_t>(
      std::find_if(after.begin(), after.end(),
                   [&](const SpokenWord& word) { return word.begin > end + kSlack; }) -
      after.begin());
  std::size_t best = 0;
  Joint joint{before.size(), 0};
  for (std::size_t i = first; i < before.size(); ++i)
    for (std::size_t j = 0; j < last; ++j) {
      std::size_t length = 0;
      while (i + length < before.size() && j + length < last) {
        const std::string word = bare(before[i + length].text);
        if (word.empty() || word != bare(after[j + length].text)) break;
        ++length;
      }
      if (length <= best) continue;
      best = length;
      // The first window's words up to the middle of the run, then the second's.
      joint = {i + (length + 1) / 2, j + (length + 1) / 2};
    }
  if (best > 0) return joint;
  const double centre = (begin + end) / 2.0;
  joint.before = static_cast<std::size_t>(
      std::count_if(before.begin(), before.end(),
                    [&](const SpokenWord& word) { return middle(word) <= centre; }));
  joint.after = static_cast<std::size_t>(
      std::count_if(after.begin(), after.end(),
                    [&](const SpokenWord& word) { return middle(word) <= centre; }));
  return joint;
}

}  // namespace attn::tasks
