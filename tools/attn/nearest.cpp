// The name nearest to a mistyped one.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "tools/attn/command.hpp"

namespace attn::tools {
namespace {

/// Insertions, deletions and replacements between two words (Levenshtein, 1966).
std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> nearest(const std::string& word,
                                   const std::vector<std::string>& names, double share) {
  constexpr std::size_t kLongest = 64;  // nobody mistypes a command at this length
  if (word.empty() || word.size() > kLongest) return std::nullopt;
  std::optional<std::string> best;
  std::size_t fewest = 0;
  for (const std::string& name : names) {
    const bool begins = name.compare(0, word.size(), word) == 0;
    const std::size_t count = begins ? 0 : edits(word, name);
    if (best && count >= fewest) continue;
    best = name;
    fewest = count;
  }
  if (best && static_cast<double>(fewest) >
                  share * static_cast<double>(std::max(word.size(), best->size())))
    return std::nullopt;
  return best;
}

}  // namespace attn::tools
