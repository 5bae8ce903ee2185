/// Masks: which pairs of query and key exist. True keeps. A query that keeps nothing gets
/// output, weights and gradients 0.
///
///     causal() && lengths(valid)
///     window(4, 4) || !dense(forbidden)

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <vector>

#include "attn/kernels/recipe.hpp"
#include "attn/tensor/spec/stage.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::spec {

/// A mask expression; Mask{} keeps everything. It owns what it points to.
class Mask {
 public:
  Mask() = default;
  explicit Mask(Stage<AnyMask> leaf);

  bool keeps_all() const { return node_ == nullptr; }
  Lowered<MaskTree> lower(const Problem& problem) const;

  friend Mask operator&&(const Mask& a, const Mask& b);
  friend Mask operator||(const Mask& a, const Mask& b);
  friend Mask operator!(const Mask& a);

 private:
  struct Node;
  static Mask join(MaskTree::Kind kind, const std::vector<Mask>& parts);

  std::shared_ptr<const Node> node_;
};

Mask all();
Mask causal(Offset offset = {});  ///< k <= q + offset
Mask causal_top_left();           ///< k <= q: the first query sees the first key alone
/// The first lengths[b] keys, or lengths[b, q]: i64 [batch] or [batch, queries], in 0..keys.
Mask lengths(const Tensor& lengths);
/// q + offset - before <= k <= q + offset + after; a negative extent has no bound.
Mask window(std::int64_t before, std::int64_t after, Offset offset = {});
/// The first keys for everybody, the rest causal: k < length or k <= q + offset. Lengths are
/// one number, or i64 [batch].
Mask prefix(std::int64_t length, Offset offset = {});
Mask prefix(const Tensor& lengths, Offset offset = {});
/// Pairs whose document numbers are equal: i64 [batch, queries] or [queries], and so for keys.
Mask documents(const Tensor& queries, const Tensor& keys);
/// Every step-th key, counted from q + offset and at most `reach` away (negative: no bound).
Mask dilated(std::int64_t step, std::int64_t reach = -1, Offset offset = {});
/// Blocks of pairs: boolean [query blocks, key blocks], [batch, ...] or [batch, heads, ...].
Mask block_sparse(const Tensor& blocks, std::int64_t query_block, std::int64_t key_block);
/// A flag for each pair: boolean [queries, keys], [batch, queries, keys] or [batch, heads,
/// queries, keys]; an extent of 1 is shared. Not copied.
Mask dense(const Tensor& flags);
/// |k - centre| <= reach; centre is a row table (spec/stage.hpp) and gets no gradient.
Mask around(const Tensor& centre, double reach);

}  // namespace attn::spec
