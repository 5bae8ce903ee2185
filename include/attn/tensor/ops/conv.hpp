/// Convolution (without flipping, as everywhere in the field) and pooling of grids.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>

#include "attn/tensor/tensor.hpp"

namespace attn {

struct Conv1dOptions {
  std::int64_t stride = 1;
  std::int64_t pad_before = 0;
  std::int64_t pad_after = 0;
  std::int64_t dilation = 1;
};
/// x [batch, in, length], weight [out, in, kernel], bias [out] or none -> [batch, out,
/// length'].
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv1dOptions& options = {});

struct Conv2dOptions {
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> pad{0, 0};  ///< on both sides
  std::array<std::int64_t, 2> dilation{1, 1};
};
/// x [batch, in, height, width], weight [out, in, height, width], bias [out] or none.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv2dOptions& options = {});

/// The largest of each block of 2 along every axis from `first_axis` on; an odd rest is
/// dropped. The gradient goes to the first of equals.
Tensor max_pool_by_two(const Tensor& x, int first_axis);

}  // namespace attn
