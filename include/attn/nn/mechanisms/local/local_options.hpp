/// The score inside the window of a local attention.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/attention/luong_attention.hpp"

namespace attn::nn {

/// The parameter W_a, where the score is general, is [query_dim, key_dim].
struct LocalScoreOptions {
  LuongScore score = LuongScore::dot;  ///< dot or general
  std::int64_t query_dim = 0;
  std::int64_t key_dim = 0;
};

}  // namespace attn::nn
