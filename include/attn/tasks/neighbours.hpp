/// Which known text is nearest to another: cosine of word counts weighted by how rare a word
/// is.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks {

/// TF-IDF: a word of count c weighs (1 + log c) log((1 + texts) / (1 + texts with it)). Words
/// are runs of letters and digits, without capitals.
class Neighbours {
 public:
  explicit Neighbours(std::span<const std::string> texts);

  struct Nearest {
    std::size_t index = 0;
    double cosine = 0.0;  ///< 0 when no word is shared, whatever the index
  };
  /// Of equally near texts the first.
  Nearest nearest(std::string_view text) const;

 private:
  using Vector = std::vector<std::pair<std::uint32_t, float>>;
  Vector vector_of(std::string_view text) const;

  struct Posting {
    std::uint32_t text;
    float weight;
  };
  std::unordered_map<std::string, std::uint32_t> words_;
  std::vector<float> rarity_;
  std::vector<std::vector<Posting>> postings_;
  std::size_t texts_ = 0;
};

}  // namespace attn::tasks
