/// Documents: sequences packed behind one another do not see each other.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/mask/kept.hpp"

namespace attn::mask {

/// Keeps pairs whose document numbers are equal: queries [batch, queries], keys [batch, keys].
/// Numbers that never fall along a sequence let cover() tell every empty block; others are
/// served too, some of their empty blocks then passing as `some`.
struct Documents {
  const int* queries = nullptr;
  const int* keys = nullptr;
  long query_batch_stride = 0;
  long key_batch_stride = 0;

  template <class V>
  ATTN_FN Kept<V> keep(Site<V> at) const {
    const int document = queries[at.batch * query_batch_stride + at.q];
    return load_int(keys + at.batch * key_batch_stride, 1, at.k) == document;
  }

  ATTN_FN Cover cover(const Block& block) const {
    const int* q = queries + block.batch * query_batch_stride;
    const int* k = keys + block.batch * key_batch_stride;
    const Range q_range(q, block.q);
    const Range k_range(k, block.k);
    if (q_range.last < k_range.first || k_range.last < q_range.first) return Cover::none;
    if (q_range.first == q_range.last && k_range.first == k_range.last) return Cover::all;
    if (!q_range.sorted || !k_range.sorted) return Cover::some;
    return share_a_document(q, block.q, k, block.k) ? Cover::some : Cover::none;
  }

 private:
  /// The smallest and the largest number of a span, and whether they never fall.
  struct Range {
    int first;
    int last;
    bool sorted = true;

    ATTN_FN Range(const int* numbers, Span span)
        : first(numbers[span.begin]), last(numbers[span.begin]) {
      for (int i = span.begin + 1; i < span.end; ++i) {
        sorted = sorted && numbers[i - 1] <= numbers[i];
        first = min(first, numbers[i]);
        last = max(last, numbers[i]);
      }
    }
  };

  /// Whether two sorted spans have a number in common.
  ATTN_FN static bool share_a_document(const int* q, Span q_span, const int* k, Span k_span) {
    int i = q_span.begin;
    int j = k_span.begin;
    while (i < q_span.end && j < k_span.end) {
      if (q[i] == k[j]) return true;
      if (q[i] < k[j]) {
        ++i;
      } else {
        ++j;
      }
    }
    return false;
  }
};

static_assert(MaskFunctor<Documents>);

}  // namespace attn::mask
