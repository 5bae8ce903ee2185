/// A model of n-grams with interpolated Kneser-Ney smoothing: what a text gives away by counts
/// alone.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks {

/// p_n(w | h) = max(c(h w) - d_n, 0) / c(h) + d_n N(h) / c(h) p_{n-1}(w | h'), h' without its
/// first token, N(h) how many tokens follow h, d_n = n1 / (n1 + 2 n2) of the n-grams seen once
/// and twice. Below the highest order c(h w) is how many tokens stand before h w. Below one
/// token all are alike. Kneser and Ney, 1995; Chen and Goodman, 1999.
class KneserNey {
 public:
  static constexpr int kMostOrder = 5;
  /// Five tokens of twelve bits are a key.
  static constexpr std::int64_t kMostTokens = 1 << 12;

  /// Texts are sequences of numbers below `vocabulary`.
  KneserNey(std::span<const std::vector<std::int64_t>> texts, std::int64_t vocabulary,
            int order);

  /// Of the token behind the last ones of `before`; less than its order is enough.
  double probability(std::span<const std::int64_t> before, std::int64_t token) const;
  /// -log2 of the probability of a text but for its first token.
  double bits(std::span<const std::int64_t> text) const;

 private:
  struct Context {
    double count = 0.0;
    double followers = 0.0;  ///< different ones
  };
  struct Order {
    std::unordered_map<std::uint64_t, std::uint32_t> grams;
    std::unordered_map<std::uint64_t, Context> contexts;
    double discount = 0.0;
  };

  double probability(std::span<const std::int64_t> context, std::int64_t token,
                     std::size_t order) const;

  std::int64_t vocabulary_;
  std::vector<Order> orders_;  ///< of one token, of two, ...
};

}  // namespace attn::tasks
