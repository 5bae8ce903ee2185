/// Features of a projection as heads, without copies, and back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// [batch, positions, features] as a view [batch, heads, positions, features / heads]; head a
/// takes features a * features / heads and following.
Tensor split_heads(const Tensor& x, std::int64_t heads);

/// The same for `parts` projections side by side: [batch, positions, parts * features] as
/// `parts` views. The gradients are gathered in one tensor, once.
std::vector<Tensor> split_parts(const Tensor& x, std::int64_t parts, std::int64_t heads);

/// [batch, heads, positions, channels] as [batch, positions, heads * channels].
Tensor join_heads(const Tensor& x);

}  // namespace attn::nn
