#include "attn/tasks/corpus_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
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

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<int>(c) & 0xC0) != 0x80; }));
}

std::size_t tokens_of(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    count += text[i] != ' ' && (i == 0 || text[i - 1] == ' ') ? 1u : 0u;
  return count;
}

/// What is read: the source, or the texts among the parts, two spaces between them.
std::string source_of(const Example& example) {
  std::string source = example.source;
  for (const auto& [name, value] : example.parts)
    if (const auto* text = std::get_if<std::string>(&value))
      source += (source.empty() ? "" : "  ") + *text;
  return source;
}

std::string_view first_target(const Example& example) {
  return example.targets.empty() ? std::string_view() : std::string_view(example.targets[0]);
}

template <class Text>
SideReport side_of(const std::vector<Example>& part, Text text) {
  std::vector<std::size_t> characters;
  std::vector<std::size_t> tokens;
  for (const Example& example : part) {
    const auto side = text(example);
    characters.push_back(characters_of(side));
    tokens.push_back(tokens_of(side));
  }
  return {lengths_of(std::move(characters)), lengths_of(std::move(tokens))};
}

PartReport part_of(const std::string& name, const std::vector<Example>& part) {
  PartReport report{.name = name, .examples = part.size(), .source = {}, .target = {}};
  std::unordered_set<std::string> sources;
  std::unordered_set<std::string> pairs;
  for (const Example& example : part) {
    const std::string source = source_of(example);
    report.repeated_sources += !sources.insert(source).second;
    // A tab is in neither, so that the two cannot run into each other.
    report.repeated_pairs +=
        !pairs.insert(source + "\t" + std::string(first_target(example))).second;
    report.more_targets += example.targets.size() > 1;
  }
  report.source = side_of(part, source_of);
  report.target = side_of(part, first_target);
  return report;
}

LeakReport leak_of(const char* from_name, const std::vector<Example>& from, const char* to_name,
                   const std::vector<Example>& to) {
  std::unordered_set<std::string> sources;
  std::unordered_set<std::string_view> targets;
  for (const Example& example : from) {
    sources.insert(source_of(example));
    targets.insert(first_target(example));
  }
  LeakReport leak{.from = from_name, .to = to_name};
  for (const Example& example : to) {
    leak.sources += sources.contains(source_of(example));
    leak.targets += targets.contains(first_target(example));
  }
  return leak;
}

}  // namespace

Lengths lengths_of(std::vector<std::size_t> lengths) {
  if (lengths.empty()) return {};
  std::sort(lengths.begin(), lengths.end());
  const auto count = static_cast<double>(lengths.size());
  const auto at = [&](double share) {
    return lengths[static_cast<std::size_t>(std::ceil(share * count)) - 1];
  };
  return {.mean = std::accumulate(lengths.begin(), lengths.end(), 0.0) / count,
          .median = at(0.5),
          .most = at(0.95),
          .longest = lengths.back()};
}

CorpusReport report_on(const Corpus& corpus) {
  const std::vector<Example>& train = corpus.train;
  const std::vector<Example>& development = corpus.development;
  const std::vector<Example>& test = corpus.test;
  return {{part_of("train", train), part_of("development", development), part_of("test", test)},
          {leak_of("train", train, "development", development),
           leak_of("train", train, "test", test),
           leak_of("development", development, "test", test)}};
}

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
