/// Causal attention in pieces: whether a sequence is run whole or in chunks behind a cache, the
/// numbers agree.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/tensor/attend.hpp"

namespace attn::nn {

/// out = softmax(q k^T / sqrt(d)) v, query i of T seeing key j of S when j <= i + S - T: the
/// first S - T keys are in the cache already. Alignment at the top left would be wrong as soon
/// as there is a cache.
///
/// q [batch, heads, T, channels], k and v [batch, kv_heads, S, .]; head h reads key head
/// h * kv_heads / heads. `chunks` sum to T, and each is appended to a KvCache; without
/// any the whole is one call. Gives output and log_sum_exp.
Attended attend_in_chunks(const Tensor& q, const Tensor& k, const Tensor& v,
                          const std::vector<std::int64_t>& chunks = {});

}  // namespace attn::nn
