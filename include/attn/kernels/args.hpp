/// The arguments of the attention kernels: views of what goes in and out.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "attn/core/macros.hpp"
#include "attn/core/table.hpp"      // IWYU pragma: export
#include "attn/core/view.hpp"       // IWYU pragma: export
#include "attn/kernels/recipe.hpp"  // IWYU pragma: export

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
  /// [batch, heads, queries, keys], optional: the similarities, before modifiers and mask, for
  /// a backward that then need not make them again; 0 or the similarity where masked. The keys
  /// are those of the longest sequence or more, side by side. Not with paging.
  View<StatOf<T>, 4> similarities{};
};

/// Gradients of the tables: one entry a stage in the recipe's order, kMaxTables slots each.
/// Empty, or null slots: not wanted. Everything given is overwritten.
struct RecipeGrads {
  TableGrad weights;  ///< of the similarity
  std::vector<std::array<TableGrad, kMaxTables>> scores;
  std::array<TableGrad, kMaxTables> normaliser{};
  std::vector<std::array<TableGrad, kMaxTables>> weight_modifiers;

  bool wants_scores() const;  ///< of any score modifier
  bool wants_any() const;
  void clear() const;  ///< writes zeros to all that are wanted

  /// visit(grad) for all that are wanted.
  template <class Visit>
  void for_each(const Visit& visit) const {
    const auto some = [&](const std::array<TableGrad, kMaxTables>& slots) {
      for (const TableGrad& grad : slots)
        if (grad.data != nullptr) visit(grad);
    };
    some({weights});
    for (const auto& stage : scores) some(stage);
    some(normaliser);
    for (const auto& stage : weight_modifiers) some(stage);
  }
};

/// Gradients that arrive at the weights, each optional; they cost one more pass over the tiles.
/// Shapes are those of Inspection.
template <class S>
struct WeightGrads {
  View<const S, 4> all{};            ///< [batch, heads, queries, keys]
  View<const S, 3> column_sums{};    ///< [batch, heads, keys]
  View<const S, 4> distance_sums{};  ///< [batch, heads, queries, 2 m + 1]
  int distance_offset = 0;

  ATTN_FN bool given() const {
    return all.data != nullptr || column_sums.data != nullptr || distance_sums.data != nullptr;
  }
  /// What arrives at one weight.
  ATTN_FN S at(int b, int h, int i, int j) const {
    S sum{};
    if (all.data != nullptr) sum += *all.at(b, h, i, j);
    if (column_sums.data != nullptr) sum += *column_sums.at(b, h, j);
    if (distance_sums.data != nullptr) {
      const int reach = static_cast<int>(distance_sums.shape[3] / 2);
      const int apart = j - (i + distance_offset);
      const int entry = apart < -reach ? 0 : apart > reach ? 2 * reach : apart + reach;
      sum += *distance_sums.at(b, h, i, entry);
    }
    return sum;
  }
};

/// The gradients of sum(out * d_out) + sum(stat * d_stat) and what d_weights says of the
/// weights.
template <class T>
struct BackwardArgs {
  View<const T, 4> q;
  View<const T, 4> k;
  View<const T, 4> v;
  View<const T, 4> out;               ///< as forward wrote it
  View<const StatOf<T>, 3> stat;      ///< as forward wrote it
  View<const T, 4> d_out;             ///< [batch, heads, queries, value channels]
  View<const StatOf<T>, 3> d_stat{};  ///< optional; log-sum-exp is differentiable
  WeightGrads<StatOf<T>> d_weights{};
  View<T, 4> dq;  ///< like q; a view without data is not wanted
  View<T, 4> dk;  ///< like k
  View<T, 4> dv;  ///< like v
  Packing packing{};
  View<const StatOf<T>, 4> similarities{};  ///< as forward wrote them; none: made again
};

/// What somebody asks of the weights, and only as much as is asked for.
/// Everything here is optional: a view without data is not filled. Nothing larger than what is
/// asked for is stored; the rows pass by one tile at a time. S is float, double for the
/// reference and for doubles on the GPU.
template <class S>
struct Inspection {
  View<S, 4> all{};  ///< [batch, heads, queries, keys]

  /// Chosen heads and queries: [batch, chosen heads, chosen queries, keys].
  std::span<const int> chosen_heads{};
  std::span<const int> chosen_queries{};
  View<S, 4> chosen{};

  /// The largest weights of each query, largest first, the earlier key among equals; -1 and 0
  /// where there are fewer keys with a weight: [batch, heads, queries, k].
  View<std::int64_t, 4> top_keys{};
  View<S, 4> top_weights{};

  View<S, 3> column_sums{};  ///< [batch, heads, keys]: the sum of weights of each key

  /// Weights summed by relative position clip(key - (query + offset), -m, m) + m, where the
  /// last axis has 2 m + 1 entries: [batch, heads, queries, 2 m + 1].
  View<S, 4> distance_sums{};
  int distance_offset = 0;

  View<std::int64_t, 3> arg_max{};  ///< [batch, heads, queries], -1 if no weight is above 0
};

/// Throws InvalidArgument unless sizes agree, pointers are there and lengths fit.
template <class T>
void validate(const ForwardArgs<T>& args, const Recipe& recipe);
template <class T>
void validate(const BackwardArgs<T>& args, const Recipe& recipe, const RecipeGrads& grads);

}  // namespace attn
