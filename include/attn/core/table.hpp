/// Table: the numbers a functor reads besides the score — a scalar, a slope for each head, a
/// relative-position table, a dense bias — and the gradient that flows back to them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"

namespace attn {

/// Numbers [batch, head, query, entry]; an axis of extent 1 is shared by all. A learnable
/// scalar is [1, 1, 1, 1], ALiBi's slopes are [1, heads, 1, 1], a relative-position table is
/// [1, 1 or heads, 1, distances], a dense bias is [1 or batch, 1 or heads, queries, keys].
struct Table {
  const void* data = nullptr;
  DType dtype = DType::f32;  ///< f32; f64 for the reference kernels alone
  std::array<std::int64_t, 4> shape{1, 1, 1, 1};
  std::array<std::int64_t, 4> strides{};  ///< in elements; zero along shared axes
};

/// Where the gradient of a table goes: the same shape, written by the backward pass. Without
/// data it is not wanted.
struct TableGrad {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::array<std::int64_t, 4> shape{1, 1, 1, 1};
  std::array<std::int64_t, 4> strides{};
};

/// How many tables one functor may read.
inline constexpr int kMaxTables = 4;

/// A row-major table over `data`.
template <class T>
constexpr Table table(const T* data, std::array<std::int64_t, 4> shape) {
  Table result{data, kDType<T>, shape, {}};
  std::int64_t step = 1;
  for (std::size_t axis = 4; axis-- > 0;) {
    result.strides[axis] = shape[axis] == 1 ? 0 : step;
    step *= shape[axis];
  }
  return result;
}
template <class T>
constexpr TableGrad table_grad(T* data, std::array<std::int64_t, 4> shape) {
  const Table like = table<T>(data, shape);
  return {data, kDType<T>, like.shape, like.strides};
}

}  // namespace attn
