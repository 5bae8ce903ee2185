/// A token drawn by its probability.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>

namespace attn::models {

/// Where and how a token is drawn; the draw depends on seed, row and step alone.
struct Draw {
  double temperature;
  std::int64_t top;  ///< 0: all
  std::uint64_t seed;
  std::int64_t row;
  std::int64_t step;
};

/// With probability proportional to P^(1 / temperature) among the likeliest; kPad and kBos are
/// never drawn.
std::int64_t drawn(std::span<const float> log_probabilities, const Draw& draw);

}  // namespace attn::models
