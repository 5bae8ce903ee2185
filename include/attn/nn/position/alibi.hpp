/// ALiBi: scores fall with the distance, each head at its own rate; nothing is learnt.
/// Press, Smith and Lewis, 2022, arXiv:2108.12409.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

/// The slopes m of the paper, [heads]: with p the largest power of two <= heads, 2^(-8 n / p)
/// for n = 1..p, then every second slope of the list for 2p, from its first on.
Tensor alibi_slopes(std::int64_t heads, DType dtype = DType::f32);

/// w = softmax(q k^T / sqrt(d) - m_h |i - j|), out = w v: q [batch, heads, queries, d], k
/// [batch, heads, keys, d], v [batch, heads, keys, value_dim]. Query i sits at i + offset; left
/// out, the offset is keys - queries.
Attended alibi_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                         const Mask& keep = {}, const Want& want = Want::output,
                         spec::Offset query_offset = {});

}  // namespace attn::nn
