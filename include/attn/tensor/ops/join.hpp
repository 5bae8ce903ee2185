/// Concatenation, stacking and padding of tensors.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <vector>

#include "attn/tensor/tensor.hpp"

namespace attn {

/// One behind the other along an axis; the other extents agree.
Tensor concat(std::span<const Tensor> parts, int axis);
Tensor concat(const std::vector<Tensor>& parts, int axis);

/// Side by side along a new axis.
Tensor stack(const std::vector<Tensor>& parts, int axis);

/// Zeros before and after along an axis.
Tensor pad(const Tensor& x, int axis, std::int64_t before, std::int64_t after);

}  // namespace attn
