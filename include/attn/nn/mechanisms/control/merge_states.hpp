/// Attention over two parts of the keys, merged: the identity behind tiles, split decoding and
/// attention over several machines. Milakov and Gimelshein, 2018, arXiv:1805.02867; Dao et al.,
/// 2022, arXiv:2205.14135.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/ops/merge.hpp"  // IWYU pragma: export
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// Which keys a query of split_attention() sees.
enum class SplitMask {
  none,
  causal,  ///< query i of T sees key j of S when j <= i + S - T
};

struct SplitAttended {
  PartialAttention a;      ///< over the keys before the split
  PartialAttention b;      ///< over the others
  PartialAttention whole;  ///< merge_states(a, b)
};

/// q, k, v [batch, heads, positions, channels]: scaled dot products over the keys before
/// `split` and over the rest, each by itself, and the two merged. A part that a query cannot
/// see has output 0 and log_sum_exp -inf, and changes nothing.
SplitAttended split_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                              std::int64_t split, SplitMask mask = SplitMask::none);

}  // namespace attn::nn
