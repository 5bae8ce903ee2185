/// The sizes a map may have: what no picture is made of is refused before it is worked on.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

namespace attn::maps {

/// 5,000 x 5,000 weights with nine digits each.
constexpr std::size_t kMostJsonBytes = std::size_t{320} << 20;
constexpr std::size_t kMostLabelBytes = std::size_t{1} << 16;
/// Pixels of an image or cells of a grid, along one side.
constexpr std::size_t kMostSide = 16384;
constexpr std::int64_t kMostHeads = 100000;
/// So that the difference of any two numbers is a number, too.
constexpr double kMostNumber = 1e300;
/// Sums of rounded numbers pass 1 by a little.
constexpr float kMostWeight = 1.0001f;

}  // namespace attn::maps
