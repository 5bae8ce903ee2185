/// Layout: where the rows of one sequence and head are, whether dense, packed or paged.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/args.hpp"

namespace attn {

/// Rows of vectors: row j, channel c is at(j)[c * channel].
template <class T>
struct Rows {
  T* base = nullptr;
  std::int64_t row = 0;      ///< elements between rows
  std::int64_t channel = 1;  ///< elements between channels
  const std::int32_t* pages = nullptr;
  std::int64_t page = 0;  ///< elements between pages
  std::int64_t page_size = 0;

  ATTN_FN T* at(std::int64_t j) const {
    if (pages == nullptr) return base + j * row;
    return base + pages[j / page_size] * page + (j % page_size) * row;
  }
  /// How many rows from j on lie evenly spaced, at most `count`.
  ATTN_FN std::int64_t even(std::int64_t j, std::int64_t count) const {
    if (pages == nullptr) return count;
    const std::int64_t left = page_size - j % page_size;
    return left < count ? left : count;
  }
};

/// The extents of a problem and its rows.
template <class T>
struct Layout {
  View<const T, 4> q, k, v;
  Packing packing;
  Paging paging;

  explicit Layout(const ForwardArgs<T>& a)
      : q(a.q), k(a.k), v(a.v), packing(a.packing), paging(a.paging) {}
  explicit Layout(const BackwardArgs<T>& a)
      : q(a.q), k(a.k), v(a.v), packing(a.packing), paging{} {}

  int sequences() const { return static_cast<int>(packing.q ? packing.count : q.shape[0]); }
  int heads() const { return static_cast<int>(q.shape[1]); }
  int kv_heads() const { return static_cast<int>(k.shape[1]); }
  int group() const { return heads() / kv_heads(); }
  int channels() const { return static_cast<int>(q.shape[3]); }
  int value_channels() const { return static_cast<int>(v.shape[3]); }
  int queries(int b) const {
    return static_cast<int>(packing.q ? packing.q[b + 1] - packing.q[b] : q.shape[2]);
  }
  int keys(int b) const {
    if (packing.k) return static_cast<int>(packing.k[b + 1] - packing.k[b]);
    if (paging.table) return static_cast<int>(paging.lengths[b]);
    return static_cast<int>(k.shape[2]);
  }

  /// Rows of anything shaped like the queries.
  template <class U>
  Rows<U> query_rows(const View<U, 4>& view, int b, int h) const {
    if (packing.q) return {view.at(0, h, packing.q[b]), view.strides[2], view.strides[3]};
    return {view.at(b, h), view.strides[2], view.strides[3]};
  }
  /// Rows of anything shaped like the keys.
  template <class U>
  Rows<U> key_rows(const View<U, 4>& view, int b, int kv_head) const {
    if (packing.k) return {view.at(0, kv_head, packing.k[b]), view.strides[2], view.strides[3]};
    if (paging.table)
      return {view.at(0, kv_head), view.strides[2],
              view.strides[3],     paging.table + b * paging.stride,
              view.strides[0],     view.shape[2]};
    return {view.at(b, kv_head), view.strides[2], view.strides[3]};
  }
  /// Statistics of one head: element i is base[i * row].
  template <class S>
  Rows<S> stat_rows(const View<S, 3>& view, int b, int h) const {
    if (view.data == nullptr) return {};
    if (packing.q) return {view.at(0, h, packing.q[b]), view.strides[2]};
    return {view.at(b, h), view.strides[2]};
  }
};

}  // namespace attn
