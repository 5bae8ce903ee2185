/// Around: a query sees the keys near a centre of its own, which need not be whole.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "attn/core/concepts.hpp"
#include "attn/mask/kept.hpp"

namespace attn::mask {

/// Keeps |k - c| <= reach, c = centres[batch, head, q]. Which keys are near is a constant: no
/// gradient reaches c from here. Local-p of Luong, Pham and Manning, 2015, arXiv:1508.04025.
template <class T>
struct Around {
  const T* centres = nullptr;
  T reach = T(0);
  long batch_stride = 0;
  long head_stride = 0;
  long query_stride = 1;

  template <class V>
  ATTN_FN Kept<V> keep(Site<V> at) const {
    const Span near = keys_near(at.batch, at.head, at.q);
    return (at.k >= near.begin) & (at.k < near.end);
  }

  ATTN_FN Cover cover(const Block& block) const {
    bool any = false;
    bool every = true;
    for (int q = block.q.begin; q < block.q.end; ++q) {
      const Span near = keys_near(block.batch, block.head, q);
      any = any ||
            (near.begin < near.end && near.begin < block.k.end && block.k.begin < near.end);
      every = every && near.begin <= block.k.begin && block.k.end <= near.end;
    }
    return !any ? Cover::none : every ? Cover::all : Cover::some;
  }

 private:
  ATTN_FN Span keys_near(int batch, int head, int q) const {
    const double centre = static_cast<double>(
        centres[batch * batch_stride + head * head_stride + q * query_stride]);
    const auto wide = static_cast<double>(reach);
    return {whole(std::ceil(centre - wide)), whole(std::floor(centre + wide)) + 1};
  }
  /// A whole number as int, past all keys if it is larger; NaN lies before them.
  ATTN_FN static int whole(double x) {
    return static_cast<int>(std::fmin(std::fmax(x, -1e9), 1e9));
  }
};

static_assert(MaskFunctor<Around<float>> && MaskFunctor<Around<double>>);

}  // namespace attn::mask
