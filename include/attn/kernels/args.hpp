/// The arguments of the attention kernels: views of what goes in and out.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <type_traits>
#include <vector>

#include "attn/core/table.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/recipe.hpp"

namespace attn {

/// Sequences of different lengths behind one another: sequence b holds the rows
/// [q[b], q[b + 1]) of the queries and [k[b], k[b + 1]) of the keys. The views' batch axis is
/// then 1 and sites count from the start of their sequence.
struct Packing {
  const std::int64_t* q = nullptr;  ///< count + 1 offsets, rising from 0
  const std::int64_t* k = nullptr;
  std::int64_t count = 0;
};

/// Keys and values in pages: the views of k and v are [pages, kv_heads, page size, channels],
/// and key j of sequence b is row j % page size of page table[b * stride + j / page size].
struct Paging {
  const std::int32_t* table = nullptr;
  std::int64_t stride = 0;                ///< entries of the table for each sequence
  const std::int64_t* lengths = nullptr;  ///< keys of each sequence
};

/// Statistics and tables are float, double beside double.
template <class T>
using StatOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// out = pool(normalise(mask(score(q, k))), v).
template <class T>
struct ForwardArgs {
  View<const T, 4> q;         ///< [batch, heads, queries, channels]
  View<const T, 4> k;         ///< [batch, kv_heads, keys, channels]; heads % kv_heads == 0
  View<const T, 4> v;         ///< [batch, kv_heads, keys, value channels]
  View<T, 4> out;             ///< [batch, heads, queries, value channels]
  View<StatOf<T>, 3> stat{};  ///< [batch, heads, queries], optional; softmax: log-sum-exp
  Packing packing{};
  Paging paging{};
};

/// Gradients of the tables: one entry a stage in the recipe's order, kMaxTables slots each.
/// Empty, or null slots: not wanted. Everything given is overwritten.
struct RecipeGrads {
  TableGrad weights;  ///< of the similarity
  std::vector<std::array<TableGrad, kMaxTables>> scores;
  std::array<TableGrad, kMaxTables> normaliser{};
  std::vector<std::array<TableGrad, kMaxTables>> factors;
};

/// The gradients of sum(out * d_out) + sum(stat * d_stat) + sum(weights * d_weights).
template <class T>
struct BackwardArgs {
  View<const T, 4> q;
  View<const T, 4> k;
  View<const T, 4> v;
  View<const T, 4> out;             ///< as forward wrote it
  View<const StatOf<T>, 3> stat;    ///< as forward wrote it
  View<const T, 4> d_out;           ///< [batch, heads, queries, value channels]
  View<const StatOf<T>, 3> d_stat{};     ///< optional; log-sum-exp is differentiable
  View<const StatOf<T>, 4> d_weights{};  ///< optional [batch, heads, queries, keys]
  View<T, 4> dq;                    ///< like q; a view without data is not wanted
  View<T, 4> dk;                    ///< like k
  View<T, 4> dv;                    ///< like v
  Packing packing{};
};

/// Throws InvalidArgument unless sizes agree, pointers are there and lengths fit.
template <class T>
void validate(const ForwardArgs<T>& args, const Recipe& recipe);
template <class T>
void validate(const BackwardArgs<T>& args, const Recipe& recipe, const RecipeGrads& grads);

}  // namespace attn
