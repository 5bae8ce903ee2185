/// Walking several strided tensors of one shape together, row by row: axes that lie behind one
/// another in all of them are joined first, so most calls see one long row.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/tensor/shape.hpp"
#include "tensor/op.hpp"

namespace attn::cpu {

/// The strides of a tensor seen as `shape`: zero along axes that it lacks or has 1 of.
inline Shape broadcast_strides(const Shape& own, const Shape& strides, const Shape& shape) {
  Shape result = Shape::filled(shape.rank(), 0);
  for (int axis = 1; axis <= own.rank(); ++axis)
    if (own[-axis] != 1) result[-axis] = strides[-axis];
  return result;
}

template <std::size_t kCount>
struct JoinedAxes {
  Shape shape;
  std::array<Shape, kCount> strides;

  JoinedAxes(const Shape& full, const std::array<Shape, kCount>& all) {
    for (int axis = 0; axis < full.rank(); ++axis) {
      if (full[axis] == 1) continue;
      if (shape.rank() > 0 && follows(full[axis], all, axis)) {
        shape[-1] *= full[axis];
        for (std::size_t i = 0; i < kCount; ++i) strides[i][-1] = all[i][axis];
      } else {
        shape.push_back(full[axis]);
        for (std::size_t i = 0; i < kCount; ++i) strides[i].push_back(all[i][axis]);
      }
    }
    if (shape.rank() == 0) {
      shape.push_back(1);
      for (Shape& s : strides) s.push_back(1);
    }
  }

 private:
  bool follows(std::int64_t extent, const std::array<Shape, kCount>& all, int axis) const {
    for (std::size_t i = 0; i < kCount; ++i)
      if (strides[i][-1] != all[i][axis] * extent) return false;
    return true;
  }
};

/// Calls run(count, offsets, steps) for every piece of a row: element i of tensor t is at
/// offsets[t] + i * steps[t]. Pieces depend on the shapes alone and run in parallel.
template <std::size_t kCount, class Run>
void for_rows(const Shape& full, const std::array<Shape, kCount>& all, const Run& run) {
  if (full.numel() == 0) return;
  const JoinedAxes<kCount> axes(full, all);
  const std::int64_t row = axes.shape[-1];
  const std::int64_t rows = axes.shape.numel() / row;
  const std::int64_t piece = std::min(row, op::kGrain);
  const std::int64_t pieces = (row + piece - 1) / piece;
  std::array<std::int64_t, kCount> step{};
  for (std::size_t t = 0; t < kCount; ++t) step[t] = axes.strides[t][-1];

  const std::int64_t grain = std::max<std::int64_t>(1, op::kGrain / piece);
  op::in_blocks(rows * pieces, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t first = task % pieces * piece;
      std::int64_t rest = task / pieces;
      std::array<std::int64_t, kCount> at{};
      for (int axis = axes.shape.rank() - 2; axis >= 0; --axis) {
        const std::int64_t place = rest % axes.shape[axis];
        rest /= axes.shape[axis];
        for (std::size_t t = 0; t < kCount; ++t) at[t] += place * axes.strides[t][axis];
      }
      for (std::size_t t = 0; t < kCount; ++t) at[t] += first * step[t];
      run(std::min(piece, row - first), at, step);
    }
  });
}

}  // namespace attn::cpu
