/// A packed shape seen as [outer, extent, inner] around one of its axes.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>

#include "attn/tensor/shape.hpp"
#include "tensor/op.hpp"

namespace attn::op {

struct AxisExtents {
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t inner = 1;

  AxisExtents(const Shape& shape, int axis) : extent(shape[axis]) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }

  /// Calls run(outer place, first inner place, one past the last) in parallel. Nobody else
  /// touches those places along the axis, which has `length` of them.
  template <class Run>
  void each_strip(std::int64_t length, const Run& run) const {
    if (inner == 0) return;
    constexpr std::int64_t kStrip = 1024;
    const std::int64_t strips = (inner + kStrip - 1) / kStrip;
    each(outer * strips, length * std::min(inner, kStrip), [&](std::int64_t task) {
      const std::int64_t first = task % strips * kStrip;
      run(task / strips, first, std::min(inner, first + kStrip));
    });
  }
};

}  // namespace attn::op
