/// next_token: from what a language model tells of the next token to one token.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::models {

/// How it is chosen. The draw depends on seed and step alone.
struct NextToken {
  double temperature = 0.0;  ///< 0: the likeliest, of equals the first
  std::int64_t top = 0;      ///< draws from so many likeliest; 0: from all
  /// Draws from the likeliest that together have this probability: the one that reaches it is
  /// the last. Holtzman et al., 2020, arXiv:1904.09751. 1: from all.
  double top_p = 1.0;
  std::uint64_t seed = 1;
  std::int64_t step = 0;
};

/// With probability proportional to exp(logit / temperature) among those that `how` leaves;
/// kPad is never said.
std::int64_t next_token(std::span<const float> logits, const NextToken& how);

}  // namespace attn::models
