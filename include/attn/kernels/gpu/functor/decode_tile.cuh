/// How decoding shares work among lanes, and where keys and values are.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/site.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/functor/decode_merge.cuh"
#include "attn/pool/state.hpp"

namespace attn::gpu {

/// Sixteen bytes of a key or value, the unit in which decoding reads memory: neighbouring
/// channels of one row.
template <class T>
struct DecodeChunk {
  static constexpr int kCount = 16 / static_cast<int>(sizeof(T));

  std::uint32_t words[4] = {0, 0, 0, 0};

  /// From aligned memory that nobody writes meanwhile, or zeros: without a branch, so that the
  /// loads of a step follow one another. Every key is read once and is kept out of L1.
  __device__ __forceinline__ void read(const T* from, bool exists) {
    asm volatile(
        "{\n"
        ".reg .pred there;\n"
        "setp.ne.b32 there, %5, 0;\n"
        "mov.b32 %0, 0;\n"
        "mov.b32 %1, 0;\n"
        "mov.b32 %2, 0;\n"
        "mov.b32 %3, 0;\n"
        "@there ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\n"
        "}\n"
        : "=&r"(words[0]), "=&r"(words[1]), "=&r"(words[2]), "=&r"(words[3])
        : "l"(from), "r"(static_cast<int>(exists)));
  }

  /// The first `count` channels from anywhere, element by element; the rest is zero.
  __device__ __forceinline__ void gather(const T* from, std::int64_t stride, int count) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i >= count) continue;
      if constexpr (sizeof(T) == 4) {
        words[i] = __float_as_uint(from[i * stride]);
      } else {
        words[i / 2] |= static_cast<std::uint32_t>(from[i * stride].bits) << (i % 2 * 16);
      }
    }
  }

  __device__ __forceinline__ void widen(float (&to)[kCount]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (std::is_same_v<T, float>) {
        to[i] = __uint_as_float(words[i]);
      } else if constexpr (std::is_same_v<T, BFloat16>) {
        to[2 * i] = __uint_as_float(words[i] << 16);
        to[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
      } else {
        const float2 pair = __half22float2(*reinterpret_cast<const __half2*>(&words[i]));
        to[2 * i] = pair.x;
        to[2 * i + 1] = pair.y;
      }
    }
  }
};

/// How a warp shares keys of kDim channels (padded) for kRows rows: kLanes lanes hold a key.
/// kInFlight 16-byte loads of keys are asked for at once, and as many of values: 8 KiB a warp
/// (H200: half of that was 2 % slower). kResident blocks fit a multiprocessor.
template <class T, int kDim, int kRows, int kInFlight = 8, int kResident = kRows == 1 ? 4 : 3>
struct DecodeTile {
  static constexpr int kChannels = kDim;
  static constexpr int kRowCount = kRows;
  static constexpr int kPiece = DecodeChunk<T>::kCount;
  static constexpr int kLanes = kDim / kPiece < 32 ? kDim / kPiece : 32;
  static constexpr int kChunks = kDim / (kPiece * kLanes);  ///< of one key in a lane
  static constexpr int kSlots = 32 / kLanes;                ///< keys that one load reads
  static constexpr int kLoads = kInFlight / kChunks;
  static constexpr int kKeys = kLoads * kSlots;  ///< of a step
  static constexpr int kSteps = 4;               ///< between two questions about the mask
  static constexpr int kSpan = kSteps * kKeys;
  static constexpr int kShare = kLanes / kLoads;  ///< lanes that end up with the same score
  static constexpr int kWarps = 4;
  static constexpr int kBlocks = kResident;
  static_assert(kLoads <= kLanes);
};

/// What a launch needs besides the stages.
template <class T>
struct DecodeLaunch {
  View<const T, 4> q, k, v;
  Paging paging;
  int group = 1;         ///< heads that share a kv head
  int chunks = 1;        ///< blocks that share the rows of a kv head
  int page_shift = -1;   ///< log2 of the page size, where it is a power of two
  bool vectors = false;  ///< keys and values can be read 16 bytes at a time
  Partials parts;
};

/// The keys or values of one sequence and kv head.
template <class T>
struct DecodeRows {
  const T* base;
  std::int64_t row, channel, page;
  const std::int32_t* pages;
  int page_size, page_shift;

  __device__ DecodeRows(const View<const T, 4>& view, const DecodeLaunch<T>& launch, int b,
                        int kv_head)
      : base(view.at(launch.paging.table == nullptr ? b : 0, kv_head)),
        row(view.strides[2]),
        channel(view.strides[3]),
        page(view.strides[0]),
        pages(launch.paging.table == nullptr ? nullptr
                                             : launch.paging.table + b * launch.paging.stride),
        page_size(static_cast<int>(view.shape[2])),
        page_shift(launch.page_shift) {}

  const __device__ __forceinline__ T* at(int key) const {
    if (pages == nullptr) return base + key * row;
    const int index = page_shift >= 0 ? key >> page_shift : key / page_size;
    return base + pages[index] * page + (key - index * page_size) * row;
  }
};

/// A row: a query of a head; head -1 where there is none.
struct DecodePlace {
  int head = -1;
  int query = 0;
};

/// What a block works on.
template <class T>
struct DecodeBlock {
  int chunk, split, b, kv_head, keys;

  /// Blocks that share keys follow one another, so that all but one find them in L2.
  __device__ explicit DecodeBlock(const DecodeLaunch<T>& launch) {
    const int kv_heads = static_cast<int>(launch.k.shape[1]);
    const int unit = static_cast<int>(blockIdx.x) / launch.chunks / launch.parts.splits;
    chunk = static_cast<int>(blockIdx.x) % launch.chunks;
    split = static_cast<int>(blockIdx.x) / launch.chunks % launch.parts.splits;
    b = unit / kv_heads;
    kv_head = unit % kv_heads;
    keys = static_cast<int>(launch.paging.table == nullptr ? launch.k.shape[2]
                                                           : launch.paging.lengths[b]);
  }

  /// Row r of the block's `count`.
  __device__ __forceinline__ DecodePlace place(const DecodeLaunch<T>& launch, int r,
                                               int count) const {
    const int queries = static_cast<int>(launch.q.shape[2]);
    const int row = chunk * count + r;
    if (row >= launch.group * queries) return {};
    return {kv_head * launch.group + row / queries, row % queries};
  }

  /// The block's share of the spans of so many keys.
  __device__ __forceinline__ Span spans(const DecodeLaunch<T>& launch, int span) const {
    const std::int64_t count = (keys + span - 1) / span;
    return {static_cast<int>(count * split / launch.parts.splits),
            static_cast<int>(count * (split + 1) / launch.parts.splits)};
  }
};

/// The warps' results, outs [kWarps, kRowCount, kChannels] and sums [kWarps, kRowCount] in
/// shared memory, become one, which is written as a part or as the row itself.
template <class Tile, class T, class N>
__device__ __forceinline__ void merge_warps(const float* outs, const float* sums,
                                            const DecodeLaunch<T>& launch,
                                            const DecodeBlock<T>& block,
                                            const RowWriter<T, N>& writer) {
  const int values = static_cast<int>(writer.out.shape[3]);
#pragma unroll 1
  for (int r = 0; r < Tile::kRowCount; ++r) {
    const auto [h, i] = block.place(launch, r, Tile::kRowCount);
    if (h < 0) break;
    // A row without value channels still has a stat.
    for (int c = static_cast<int>(threadIdx.x); c == 0 || c < values; c += 32 * Tile::kWarps) {
      float lse = sums[r];
      float out = outs[r * Tile::kChannels + c];
#pragma unroll
      for (int w = 1; w < Tile::kWarps; ++w) {
        const int place = w * Tile::kRowCount + r;
        const pool::Mix<float> by = pool::mix(lse, sums[place]);
        out = pool::mixed(by, out, outs[place * Tile::kChannels + c]);
        lse = by.lse;
      }
      if (launch.parts.splits > 1) {
        const std::int64_t row = (block.b * writer.out.shape[1] + h) * writer.out.shape[2] + i;
        const std::int64_t part = row * launch.parts.splits + block.split;
        if (c == 0) launch.parts.lse[part] = lse;
        if (c < values) launch.parts.out[part * values + c] = out;
      } else {
        const float scale = writer.finish(block.b, h, i, lse, c == 0);
        if (c < values) *writer.out.at(block.b, h, i, c) = T(scale > 0.0f ? out * scale : 0.0f);
      }
    }
  }
}

}  // namespace attn::gpu
