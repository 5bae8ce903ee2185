// What a model of classify takes over from its data.

#include "tasks/classify/lexicon.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/classify/corpora.hpp"
#include "tasks/classify/words.hpp"
#include "tasks/entail/word_vectors.hpp"

namespace attn::tasks::classify {
namespace {

/// A vocabulary holds none that is longer, in bytes.
constexpr std::size_t kLongestKey = 256;

/// "what's" is "what" and "'s", "don't" "do" and "n't", "top-rated" "top" and "rated".
std::vector<std::string> parts_of(const std::string& word) {
  if (word.size() > 3 && word.ends_with("n't")) return {word.substr(0, word.size() - 3), "n't"};
  std::vector<std::string> parts(1);
  for (const char c : word) {
    if (c == '-' || c == '/' || c == '.' || c == '_') {
      parts.emplace_back();
    } else {
      if (c == '\'') parts.emplace_back();
      parts.back() += c;
    }
  }
  std::erase(parts, "");
  return parts;
}

}  // namespace

Lexicon learn_lexicon(const Corpus& corpus, const std::string& about, std::int64_t most_words) {
  std::map<std::string, std::int64_t> counts;
  std::set<std::string> labels;
  std::set<std::string> tags;
  for (const Example& example : corpus.train) {
    for (const std::string& word : classify::words_of(example.source)) ++counts[key_of(word)];
    labels.insert(example.targets.front());
    if (about == kSlots)
      for (const std::string_view tag : text::split_words(example.targets.back()))
        tags.emplace(tag);
  }
  if (labels.size() > kMostLabels)
    fail<FileError>(corpus.name, ": ", labels.size(), " labels; at most ", kMostLabels,
                    " are accepted");
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [key, count] : counts)
    if (count > 1 && key.size() <= kLongestKey && text::split_words(key).size() == 1 &&
        text::normalise(key) == key)
      order.emplace_back(-count, key);
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), static_cast<std::size_t>(most_words)));
  std::vector<text::Piece> pieces;
  // Few, and their number is not known before.
  // NOLINTNEXTLINE(performance-inefficient-vector-operation)
  for (const auto& [count, key] : order) pieces.push_back({key});
  Lexicon lexicon;
  lexicon.vocabularies.emplace("words", text::Tokeniser(text::Units::words, pieces));
  lexicon.facts = {{"about", about}, {"labels", labels}, {"tags", tags}};
  return lexicon;
}

Tensor start_of_words(const text::Tokeniser& words, std::int64_t dim, const Say& say) {
  std::set<std::string> wanted;
  for (std::int64_t id = text::Mark::unknown + 1; id < words.size(); ++id) {
    wanted.insert(words.label(id));
    for (const std::string& part : parts_of(words.label(id))) wanted.insert(part);
  }
  std::vector<text::Piece> pieces;
  // Few, and their number is not known before.
  // NOLINTNEXTLINE(performance-inefficient-vector-operation)
  for (const std::string& word : wanted) pieces.push_back({word});
  const text::Tokeniser all(text::Units::words, pieces);
  const auto vectors = entail::glove_vectors(all, dim, say).to_vector<float>();
  const auto width = static_cast<std::size_t>(dim);
  std::map<std::string, std::span<const float>> known;
  for (std::int64_t id = text::Mark::unknown + 1; id < all.size(); ++id) {
    const auto row = std::span(vectors).subspan(static_cast<std::size_t>(id) * width, width);
    if (std::any_of(row.begin(), row.end(), [](float x) { return x != 0.0f; }))
      known.emplace(all.label(id), row);
  }
  std::vector<float> start(static_cast<std::size_t>(words.size()) * width, 0.0f);
  for (std::int64_t id = text::Mark::unknown + 1; id < words.size(); ++id) {
    const std::string word = words.label(id);
    std::vector<std::string> parts{word};
    if (!known.contains(word)) parts = parts_of(word);
    std::erase_if(parts, [&](const std::string& part) { return !known.contains(part); });
    for (const std::string& part : parts)
      for (std::size_t i = 0; i < width; ++i)
        start[static_cast<std::size_t>(id) * width + i] +=
            known.at(part)[i] / static_cast<float>(parts.size());
  }
  return Tensor::from(start, {words.size(), dim});
}

}  // namespace attn::tasks::classify
