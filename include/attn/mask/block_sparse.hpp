/// Block-sparse mask: a small table says which blocks of pairs exist.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/mask/kept.hpp"

namespace attn::mask {

/// Keeps (q, k) if blocks[batch, head, q / query_block, k / key_block] is not 0. A stride of 0
/// shares the table along its axis. Zaheer et al., 2020, arXiv:2007.14062, is one choice.
struct BlockSparse {
  const unsigned char* blocks = nullptr;  ///< [batch, heads, query blocks, key blocks]
  int query_block = 1;                    ///< queries in a block
  int key_block = 1;
  long query_stride = 0;  ///< in entries, between query blocks
  long key_stride = 1;
  long head_stride = 0;
  long batch_stride = 0;

  template <class V>
  ATTN_FN Kept<V> keep(Site<V> at) const {
    return load_flag(row(at.batch, at.head, at.q / query_block), key_stride,
                     quotient(at.k, key_block));
  }

  /// Reads the table's entries under the block.
  ATTN_FN Cover cover(const Block& block) const {
    bool any = false;
    bool every = true;
    for (int q = block.q.begin / query_block; q <= (block.q.end - 1) / query_block; ++q) {
      const unsigned char* flags = row(block.batch, block.head, q);
      for (int k = block.k.begin / key_block; k <= (block.k.end - 1) / key_block; ++k) {
        const bool kept = load_flag(flags, key_stride, k);
        any = any || kept;
        every = every && kept;
      }
    }
    return !any ? Cover::none : every ? Cover::all : Cover::some;
  }

 private:
  ATTN_FN const unsigned char* row(int batch, int head, int block) const {
    return blocks + batch * batch_stride + head * head_stride + block * query_stride;
  }
};

static_assert(MaskFunctor<BlockSparse>);

}  // namespace attn::mask
