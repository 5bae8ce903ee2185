#include "attn/tasks/neighbours.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace attn::tasks {
namespace {

template <class F>
void for_each_word(std::string_view text, F take) {
  std::string word;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte >= 0x80) {
      word += static_cast<char>(std::tolower(byte));
    } else if (!word.empty()) {
      take(word);
      word.clear();
    }
  }
  if (!word.empty()) take(word);
}

}  // namespace

Neighbours::Neighbours(std::span<const std::string> texts) : texts_(texts.size()) {
  std::vector<std::uint32_t> seen;     // the last text a word was seen in, from 1
  std::vector<std::uint32_t> holders;  // texts with it
  for (std::size_t i = 0; i < texts.size(); ++i)
    for_each_word(texts[i], [&](const std::string& word) {
      const auto [place, is_new] =
          words_.emplace(word, static_cast<std::uint32_t>(words_.size()));
      if (is_new) {
        seen.push_back(0);
        holders.push_back(0);
      }
      if (seen[place->second] != i + 1) ++holders[place->second];
      seen[place->second] = static_cast<std::uint32_t>(i + 1);
    });
  const auto count = static_cast<double>(texts.size());
  rarity_.reserve(holders.size());
  for (const std::uint32_t holder : holders)
    rarity_.push_back(static_cast<float>(std::log((1.0 + count) / (1.0 + holder))));
  postings_.resize(rarity_.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (const auto& [word, weight] : vector_of(texts[i]))
      postings_[word].push_back({static_cast<std::uint32_t>(i), weight});
}

Neighbours::Vector Neighbours::vector_of(std::string_view text) const {
  std::unordered_map<std::uint32_t, int> counts;
  // A word nobody else has makes the text longer, and so less like any other.
  std::unordered_map<std::string, int> unknown;
  for_each_word(text, [&](const std::string& word) {
    const auto place = words_.find(word);
    if (place == words_.end()) {
      ++unknown[word];
    } else {
      ++counts[place->second];
    }
  });
  const auto weight = [](int count, double rarity) {
    return (1.0 + std::log(static_cast<double>(count))) * rarity;
  };
  Vector vector;
  for (const auto& [word, count] : counts)
    vector.emplace_back(word, static_cast<float>(weight(count, rarity_[word])));
  std::sort(vector.begin(), vector.end());  // sums in one order give the same bits everywhere
  double norm = 0.0;
  for (const auto& [word, value] : vector) norm += static_cast<double>(value) * value;
  const double rarest = std::log(1.0 + static_cast<double>(texts_));
  for (const auto& [word, count] : unknown) norm += std::pow(weight(count, rarest), 2.0);
  const auto scale = static_cast<float>(norm > 0.0 ? 1.0 / std::sqrt(norm) : 0.0);
  for (auto& [word, value] : vector) value *= scale;
  return vector;
}

Neighbours::Nearest Neighbours::nearest(std::string_view text) const {
  std::vector<float> sums(texts_, 0.0f);
  for (const auto& [word, weight] : vector_of(text))
    for (const Posting& posting : postings_[word])
      sums[posting.text] += weight * posting.weight;
  const auto best = std::max_element(sums.begin(), sums.end());
  if (best == sums.end()) return {};
  return {static_cast<std::size_t>(best - sums.begin()), static_cast<double>(*best)};
}

}  // namespace attn::tasks
