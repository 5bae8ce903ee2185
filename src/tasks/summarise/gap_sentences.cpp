#include "attn/tasks/summarise/gap_sentences.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "tasks/debian/description.hpp"
#include "tasks/translate/sentences.hpp"

namespace attn::tasks {
namespace {

constexpr std::size_t kFewestSentences = 3;
constexpr std::size_t kMostSentences = 8;
constexpr int kFewestWords = 5;
constexpr int kMostWords = 30;

std::string without(const std::vector<std::string>& parts, std::size_t gap) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == gap) continue;
    if (!text.empty()) text += ' ';
    text += parts[i];
  }
  return text;
}

}  // namespace

std::vector<Example> gap_sentences(const std::vector<Example>& texts) {
  std::vector<Example> pairs;
  for (const Example& example : texts) {
    const std::vector<std::string> parts = sentences(example.source);
    if (parts.size() < kFewestSentences) continue;
    for (std::size_t gap = 0; gap < std::min(parts.size(), kMostSentences); ++gap) {
      const int words = word_count(parts[gap]);
      if (words < kFewestWords || words > kMostWords) continue;
      pairs.push_back(
          {example.id + " " + std::to_string(gap), without(parts, gap), {parts[gap]}});
    }
  }
  return pairs;
}

}  // namespace attn::tasks
