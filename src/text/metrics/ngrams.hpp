/// Counting n-grams of symbols: characters as they are, words by number.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace attn::text {

/// Counts by n-gram; the keys look into the text that was counted.
using NgramCounts = std::unordered_map<std::u32string_view, std::int64_t>;

inline NgramCounts count_ngrams(std::u32string_view symbols, std::size_t n) {
  NgramCounts counts;
  for (std::size_t i = 0; i + n <= symbols.size(); ++i) ++counts[symbols.substr(i, n)];
  return counts;
}

/// How many of `a` are in `b`, each as often as in both.
inline std::int64_t common(const NgramCounts& a, const NgramCounts& b) {
  std::int64_t sum = 0;
  for (const auto& [ngram, count] : a)
    if (const auto other = b.find(ngram); other != b.end())
      sum += std::min(count, other->second);
  return sum;
}

/// How many n-grams a text has.
inline std::int64_t ngrams_in(std::u32string_view symbols, std::size_t n) {
  return symbols.size() < n ? 0 : static_cast<std::int64_t>(symbols.size() - n + 1);
}

/// Gives equal words equal numbers.
class WordNumbers {
 public:
  template <class Words>
  std::u32string number(const Words& words) {
    std::u32string out;
    for (const auto& word : words)
      out += numbers_.try_emplace(std::string(word), static_cast<char32_t>(numbers_.size()))
                 .first->second;
    return out;
  }

 private:
  std::unordered_map<std::string, char32_t> numbers_;
};

}  // namespace attn::text
