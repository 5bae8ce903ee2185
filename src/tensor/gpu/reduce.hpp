/// Reductions on the GPU, in an order that the shape alone decides.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"
#include "tensor/ops/axis_extents.hpp"

namespace attn::gpu {

/// Packed x seen as [outer, extent, inner] is summed to packed out [outer, inner]. Both are of
/// one type, or out is the wider type that sums of x run in.
void sum_middle(const Tensor& x, const op::AxisExtents& extents, const Tensor& out);

/// The first place of the largest along the extent, as i64 [outer, inner].
void argmax(const Tensor& x, const op::AxisExtents& extents, const Tensor& out);

/// The largest of each row of packed f32 x, as top() of attn/tensor/ops/reduce.hpp has them.
void top(const Tensor& x, const Tensor& values, const Tensor& indices);

}  // namespace attn::gpu
