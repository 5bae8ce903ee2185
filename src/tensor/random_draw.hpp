/// What random tensors draw at each place, and which numbers a dropout drops, for CPU and GPU.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
#include <numbers>

#include "attn/core/dual.hpp"  // IWYU pragma: keep: philox.hpp must see its real()
#include "attn/core/macros.hpp"
#include "attn/core/philox.hpp"

namespace attn::op {

ATTN_FN PhiloxBlock<std::uint32_t> words_at(std::uint64_t key, std::int64_t block) {
  const auto place = static_cast<std::uint64_t>(block);
  return philox<std::uint32_t>({static_cast<std::uint32_t>(place),
                                static_cast<std::uint32_t>(place >> 32), 0x617474u, 0x6eu},
                               key);
}

/// Strictly between 0 and 1, with 53 bits.
ATTN_FN double fraction(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32 | low) >> 11;
  return (static_cast<double>(bits) + 0.5) * 0x1p-53;
}

/// Numbers 2 p and 2 p + 1 of a tensor.
struct DrawnPair {
  double first;
  double second;
};

struct UniformDraw {
  double low;
  double high;

  ATTN_FN DrawnPair at(std::uint64_t key, std::int64_t pair) const {
    const auto words = words_at(key, pair);
    return {low + (high - low) * fraction(words.a, words.b),
            low + (high - low) * fraction(words.c, words.d)};
  }
};

/// Box and Muller, 1958.
struct NormalDraw {
  double mean;
  double deviation;

  ATTN_FN DrawnPair at(std::uint64_t key, std::int64_t pair) const {
    const auto words = words_at(key, pair);
    const double radius = deviation * std::sqrt(-2.0 * std::log(fraction(words.a, words.b)));
    const double angle = 2.0 * std::numbers::pi * fraction(words.c, words.d);
    return {mean + radius * std::cos(angle), mean + radius * std::sin(angle)};
  }
};

/// Which random word decides about number i, for every number of lanes: a chunk of 64 numbers
/// has 16 blocks of Philox; number j of it takes word j / 16 of block j % 16.
inline constexpr int kDropoutBlocks = 16;
inline constexpr int kDropoutChunk = 4 * kDropoutBlocks;

/// What a dropout draws; enough to draw it again for the gradient.
struct DropoutDraw {
  std::uint64_t key;
  std::uint32_t bound;  ///< words below it drop
  double keep;          ///< what the others are multiplied by

  /// The words of numbers i, i + 16, i + 32 and i + 48, for i % 64 < 16.
  ATTN_FN PhiloxBlock<std::uint32_t> words(std::int64_t i) const {
    const auto block =
        static_cast<std::uint64_t>(i / kDropoutChunk * kDropoutBlocks + i % kDropoutBlocks);
    return philox<std::uint32_t>(
        {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0u, 1u},
        key);
  }
};

}  // namespace attn::op
