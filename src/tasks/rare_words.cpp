#include "attn/tasks/rare_words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"

namespace attn::tasks {
namespace {

constexpr std::size_t kShortest = 3;

/// As ROUGE sees words: what is scored is what is counted.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end = [&] {
    if (word.size() >= kShortest) words.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    const char low = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if ((low >= 'a' && low <= 'z') || (low >= '0' && low <= '9')) {
      word += low;
    } else {
      end();
    }
  }
  end();
  return words;
}

}  // namespace

std::vector<Example> needing_rare_words(std::span<const Example> examples,
                                        std::span<const Example> train, std::int64_t most) {
  if (most < 0)
    fail("attn::tasks::needing_rare_words: at most ", most, " times; 0 and more are accepted");
  std::unordered_map<std::string, std::int64_t> count;
  for (const Example& example : train)
    for (const std::string& word : words_of(example.targets.at(0))) ++count[word];

  std::vector<Example> chosen;
  for (const Example& example : examples) {
    const std::vector<std::string> source = words_of(example.source);
    const std::unordered_set<std::string> read(source.begin(), source.end());
    const std::vector<std::string> wanted = words_of(example.targets.at(0));
    const bool needs = std::any_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
      const auto found = count.find(word);
      return read.contains(word) && (found == count.end() || found->second <= most);
    });
    if (needs) chosen.push_back(example);
  }
  return chosen;
}

}  // namespace attn::tasks
