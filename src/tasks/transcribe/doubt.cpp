// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/doubt.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/transcribe/transcript.hpp"
#include "attn/tasks/transcribe/word_errors.hpp"

namespace attn::tasks {
namespace {

/// Mean log-probabilities of a token below which words are doubted, chosen on one half of the
/// clips of docs/tasks/transcribe.md. Of few words they say little.
constexpr double kLeast = -0.5;
constexpr double kLeastOfFew = -1.0;
constexpr std::int64_t kFewWords = 4;
constexpr double kMostRepeated = 0.4;

}  // namespace

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

std::string doubt_of(const Certainty& certainty) {
  const bool few = certainty.words < kFewWords;
  const bool repeats = certainty.repeated > kMostRepeated;
  const bool unlikely = certainty.a_token() < (few ? kLeastOfFew : kLeast);
  if (certainty.words == 0 || (!repeats && !unlikely)) return "";
  if (!unlikely)
    return "the words repeat themselves and may be made up; the model knows English speech "
           "alone";
  char share[32];
  std::snprintf(share, sizeof share, "%.2f", std::exp(certainty.a_token()));
  return std::string("the words may be made up: the model gave them a probability of ") +
         share + " a token, far below that of clear English; it knows no other language";
}

}  // namespace attn::tasks
