/// Rotary positions: pairs of features turn with the position, so that products of queries and
/// keys see the distance alone. Su et al., 2021, arXiv:2104.09864.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/ops/rotary.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// Queries and keys, turned.
struct Rotated {
  Tensor queries;
  Tensor keys;
};

/// Each pair (u, w) of the first rotary_dim features becomes (u cos - w sin, u sin + w cos) of
/// position * base^(-2 i / rotary_dim); other features pass. queries [batch, heads, positions,
/// d], keys [batch, kv_heads, positions, d], positions i64 [batch, positions].
Rotated rotate(const Tensor& queries, const Tensor& keys, const Tensor& positions,
               const RotaryOptions& options = {});
/// The same for positions offset, offset + 1, ...
Rotated rotate(const Tensor& queries, const Tensor& keys, std::int64_t offset = 0,
               const RotaryOptions& options = {});

}  // namespace attn::nn
