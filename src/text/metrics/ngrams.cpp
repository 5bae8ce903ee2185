// SPDX-License-Identifier: Apache-2.0

#include "text/metrics/ngrams.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace attn::text {

NgramCounts count_ngrams(std::u32string_view symbols, std::size_t n) {
  NgramCounts counts;
  for (std::size_t i = 0; i + n <= symbols.size(); ++i) ++counts[symbols.substr(i, n)];
  return counts;
}

std::int64_t common(const NgramCounts& a, const NgramCounts& b) {
  std::int64_t sum = 0;
  for (const auto& [ngram, count] : a)
    if (const auto other = b.find(ngram); other != b.end())
      sum += std::min(count, other->second);
  return sum;
}

}  // namespace attn::text
