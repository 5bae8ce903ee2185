/// Plan: a problem and a recipe laid flat — plain pointers and numbers, so that the kernels'
/// objects instantiate nothing of the standard library.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/macros.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/layout.hpp"  // IWYU pragma: export
#include "attn/kernels/recipe.hpp"  // IWYU pragma: export
#include "attn/kernels/stage.hpp"

namespace attn::cpu {

/// Rows of vectors of any storage type.
struct RawRows {
  void* base = nullptr;
  DType dtype = DType::f32;
  std::int64_t row = 0;
  std::int64_t channel = 1;
  const std::int32_t* pages = nullptr;
  std::int64_t page = 0;
  std::int64_t page_size = 0;

  template <class T>
  ATTN_FN Rows<T> as() const {
    return {static_cast<T*>(base), row, channel, pages, page, page_size};
  }
};

/// A view of any storage type.
struct RawView {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t shape[4] = {};
  std::int64_t strides[4] = {};

  template <class T>
  static RawView of(const View<T, 4>& view) {
    using Plain = std::remove_const_t<T>;
    RawView raw{const_cast<Plain*>(view.data), kDType<Plain>, {}, {}};
    for (std::size_t axis = 0; axis < 4; ++axis) {
      raw.shape[axis] = view.shape[axis];
      raw.strides[axis] = view.strides[axis];
    }
    return raw;
  }

  /// The rows of one head from `first` on, channels from `channel` on.
  ATTN_FN RawRows rows(std::int64_t b, std::int64_t h, std::int64_t first,
                       std::int64_t channel = 0) const {
    if (data == nullptr) return {};
    const std::int64_t offset =
        b * strides[0] + h * strides[1] + first * strides[2] + channel * strides[3];
    return {static_cast<std::byte*>(data) + offset * static_cast<std::int64_t>(size_of(dtype)),
            dtype, strides[2], strides[3]};
  }
};

/// [batch, heads, queries] of float.
struct StatView {
  float* data = nullptr;
  std::int64_t strides[3] = {};

  template <class T>
  static StatView of(const View<T, 3>& view) {
    return {const_cast<float*>(view.data), {view.strides[0], view.strides[1], view.strides[2]}};
  }
};

/// A pointwise stage with its kernels for the chosen target.
struct FlatStage {
  const void* functor;
  const Table* tables;
  int slots;
  const PointwiseOps* ops;
  bool is_factor;
};

struct FlatNormaliser {
  const void* functor;
  const Table* tables;
  int slots;
  const NormaliserOps* ops;
  Coupling coupling;
  bool streams;
  bool runs_max;
};

/// Everything a kernel reads. Built for each call; lives as long as the call.
struct Plan {
  RawView q, k, v, out;
  StatView stat;
  RawView similarities;  ///< kept by the forward, read by the backward; without data: neither
  Packing packing;
  Paging paging;
  int sequences = 0;
  int heads = 0;
  int kv_heads = 0;
  int group = 0;
  int channels = 0;
  int value_channels = 0;

  Similarity similarity = Similarity::dot;
  float scale = 1.0f;
  Table weights;

  const FlatStage* scores = nullptr;
  int score_count = 0;
  const FlatStage* weight_modifiers = nullptr;
  int factor_count = 0;
  bool streams = true;  ///< the normaliser streams and all weight modifiers are factors
  FlatNormaliser normaliser{};

  const void* masks = nullptr;  ///< null: everything is kept
  int mask_buffers = 1;         ///< as many times the bits of a tile must `keep` be given
  Cover (*cover)(const void* masks, const Block& block) = nullptr;
  void (*keep)(const void* masks, const TilePlace& at, std::uint8_t* bits,
               std::int64_t row_bytes) = nullptr;

  ATTN_FN int queries(int b) const {
    return static_cast<int>(packing.q ? packing.q[b + 1] - packing.q[b] : q.shape[2]);
  }
  ATTN_FN int keys(int b) const {
    if (packing.k) return static_cast<int>(packing.k[b + 1] - packing.k[b]);
    if (paging.table) return static_cast<int>(paging.lengths[b]);
    return static_cast<int>(k.shape[2]);
  }

  ATTN_FN RawRows query_rows(const RawView& view, int b, int h) const {
    return packing.q ? view.rows(0, h, packing.q[b]) : view.rows(b, h, 0);
  }
  ATTN_FN RawRows key_rows(const RawView& view, int b, int kv_head) const {
    if (packing.k) return view.rows(0, kv_head, packing.k[b]);
    if (!paging.table) return view.rows(b, kv_head, 0);
    RawRows paged = view.rows(0, kv_head, 0);
    paged.pages = paging.table + b * paging.stride;
    paged.page = view.strides[0];
    paged.page_size = view.shape[2];
    return paged;
  }
  /// Kept similarities of one query, all keys; null if none are.
  ATTN_FN float* similarity_row(int b, int h, int i) const {
    const RawRows kept = query_rows(similarities, b, h);
    return kept.base == nullptr ? nullptr : static_cast<float*>(kept.base) + i * kept.row;
  }
  ATTN_FN float* stat_row(const StatView& view, int b, int h) const {
    if (view.data == nullptr) return nullptr;
    return packing.q ? view.data + h * view.strides[1] + packing.q[b] * view.strides[2]
                     : view.data + b * view.strides[0] + h * view.strides[1];
  }
};

}  // namespace attn::cpu
