/// Reductions: many numbers become one. Sums run in index order on blocks cut by shape, so the
/// number of threads changes nothing.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/tensor.hpp"

namespace attn {

/// Whether a reduced axis stays, with extent 1.
enum class Axis { drop, keep };

Tensor sum(const Tensor& x);  ///< of everything; no axes are left
Tensor mean(const Tensor& x);
Tensor sum(const Tensor& x, int axis, Axis axes = Axis::drop);
Tensor mean(const Tensor& x, int axis, Axis axes = Axis::drop);
/// Sums x over what `shape` does not have: the gradient of broadcasting.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// The largest along an axis and its first position, i64. The gradient goes there.
struct Maximum {
  Tensor values;
  Tensor indices;
};
Maximum max(const Tensor& x, int axis, Axis axes = Axis::drop);
Tensor argmax(const Tensor& x, int axis);
/// The `count` largest of each row of x f32 [rows, columns], largest first and of equals the
/// first, and their positions: f64 [2, rows, count]. Where there are no more, NaN not counting,
/// -inf and the position -1. Off the tape.
Tensor top(const Tensor& x, std::int64_t count);

}  // namespace attn
