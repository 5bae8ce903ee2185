/// What the local attentions share: the score inside the window, and whether weights fade
/// towards its ends.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::nn {

/// q . k, or q^T W_a k.
enum class LocalScore { dot, general };

/// Whether weights are multiplied by exp(-(s - p)^2 / (2 sigma^2)), sigma = D / 2.
enum class Fade { none, gaussian };

/// The parameter W_a, where the score is general, is [query_dim, key_dim].
struct LocalScoreOptions {
  LocalScore score = LocalScore::dot;
  std::int64_t query_dim = 0;
  std::int64_t key_dim = 0;
};

}  // namespace attn::nn
