/// Dense mask: one flag for each pair.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/mask/kept.hpp"

namespace attn::mask {

/// Keeps (q, k) if flags[batch, head, q, k] is not 0. Strides count flags; 0 shares the flags
/// along an axis.
struct Dense {
  const unsigned char* flags = nullptr;
  long batch_stride = 0;
  long head_stride = 0;
  long query_stride = 0;
  long key_stride = 1;

  template <class V>
  ATTN_FN Kept<V> keep(Site<V> at) const {
    const unsigned char* row =
        flags + at.batch * batch_stride + at.head * head_stride + at.q * query_stride;
    return load_flag(row, key_stride, at.k);
  }

  /// Says nothing: reading a block's flags costs what masking it costs.
  ATTN_FN Cover cover(const Block&) const { return Cover::some; }
};

static_assert(MaskFunctor<Dense>);

}  // namespace attn::mask
