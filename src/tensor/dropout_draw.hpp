/// Which numbers a dropout drops: one stream of random words for CPU and GPU.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/dual.hpp"  // IWYU pragma: keep: philox.hpp must see its real()
#include "attn/core/macros.hpp"
#include "attn/core/philox.hpp"

namespace attn::op {

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
