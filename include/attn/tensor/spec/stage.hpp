/// What specs share. A spec holds tensors; attend() tells it the sizes of the call, and it
/// lowers to a functor with tables.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::spec {

/// Where the first query sits among the keys. Left out it is keys - queries: the last query
/// meets the last key.
using Offset = std::optional<std::int64_t>;

/// The sizes of a call, known once attend() has its tensors.
struct Problem {
  std::int64_t batch = 0;
  std::int64_t heads = 0;  ///< 1 without a head axis
  std::int64_t kv_heads = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t channels = 0;
  DType dtype = DType::f32;     ///< of tables: f32, and f64 beside f64
  Device device = Device::cpu;  ///< of tables, and of what functors point to

  bool uneven = false;  ///< sequences differ in keys - queries: an offset cannot be left out

  int offset(Offset given) const;
};

/// A stage with its numbers.
template <class Any>
struct Lowered {
  Any stage;
  /// [batch, head, query, entry], of the problem's dtype; each gets its gradient. They become
  /// the stage's tables.
  std::vector<Tensor> tables = {};
  /// What the functor points into besides: tensors, which nobody may write to before the
  /// backward pass, and other memory.
  std::vector<Tensor> reads = {};
  std::shared_ptr<const void> owns = {};
};

/// A stage before the sizes are known.
template <class Any>
struct Stage {
  std::function<Lowered<Any>(const Problem&)> lower;
};

// Tensors as tables, on the tape. An extent of 1 is shared along its axis. Each throws
// InvalidArgument, beginning with `where`, unless the shape is one of those named.

/// One number a row of scores: [1], [heads], [batch, queries] or [batch, heads, queries].
Tensor row_table(const Tensor& x, const Problem& problem, const char* where);
/// Numbers that a functor looks up: [entries], [heads, entries], [batch, queries, entries] or
/// [batch, heads, queries, entries].
Tensor entry_table(const Tensor& x, const Problem& problem, const char* where);
/// One number a pair: [keys], [queries, keys], [batch, queries, keys] or [batch, heads,
/// queries, keys].
Tensor pair_table(const Tensor& x, const Problem& problem, const char* where);

}  // namespace attn::spec
