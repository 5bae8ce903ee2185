/// Lengths: the first keys of a sequence exist, the padding behind them does not.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/mask/kept.hpp"

namespace attn::mask {

/// Keeps k < lengths[batch * batch_stride + q * query_stride]: valid_lens [batch] with a query
/// stride of 0, or [batch, queries].
struct Lengths {
  const int* lengths = nullptr;
  long batch_stride = 1;
  long query_stride = 0;

  template <class V>
  ATTN_FN Kept<V> keep(Site<V> at) const {
    return at.k < length(at.batch, at.q);
  }

  ATTN_FN Cover cover(const Block& block) const {
    int shortest = length(block.batch, block.q.begin);
    int longest = shortest;
    if (query_stride != 0) {
      for (int q = block.q.begin + 1; q < block.q.end; ++q) {
        shortest = min(shortest, length(block.batch, q));
        longest = max(longest, length(block.batch, q));
      }
    }
    if (block.k.begin >= longest) return Cover::none;
    return block.k.end <= shortest ? Cover::all : Cover::some;
  }

 private:
  ATTN_FN int length(int batch, int q) const {
    return lengths[batch * batch_stride + q * query_stride];
  }
};

static_assert(MaskFunctor<Lengths>);

}  // namespace attn::mask
