/// The forward kernel of additive attention: 32 queries against a part of the keys.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "attn/core/concepts.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/functor/additive_scores.cuh"
#include "attn/kernels/gpu/functor/decode_merge.cuh"
#include "attn/kernels/gpu/functor/decode_stages.cuh"
#include "attn/normalise/softmax.hpp"

namespace attn::gpu {

/// A block has 256 threads. As 16 x 16 each makes 2 x 4 scores, as 4 x 64 each pools 8 rows of
/// 4 channels, kSlices times 256 channels apart.
template <int kSlices>
struct AdditiveForwardTile {
  static constexpr int kThreads = 256;
  static constexpr int kQueries = 32;
  static constexpr int kKeys = 64;
  static constexpr int kUnits = 64;              ///< channels of keys in shared memory
  static constexpr int kKeyStride = kUnits + 4;  ///< 8 rows then touch all banks once
  static constexpr int kPoolStride = kQueries + 4;
  static constexpr int kSliceCount = kSlices;
  static constexpr int kBlocks = kSlices == 1 ? 2 : 1;  ///< a multiprocessor

  /// At least one step, whose barriers the tiles rely on.
  static int padded(int channels) {
    return channels == 0 ? kUnits : (channels + kUnits - 1) / kUnits * kUnits;
  }
  static std::size_t shared_bytes(int channels) {
    const int depth = padded(channels);
    return sizeof(float) *
           static_cast<std::size_t>(kQueries * (depth + 4) + depth +
                                    kKeys * (kKeyStride + kPoolStride) + kQueries);
  }
};

struct AdditiveForwardLaunch {
  ForwardArgs<float> args;
  DeviceTable weights;  ///< w of each kv head
  int group = 1;        ///< heads that share a kv head
  int padded = 0;       ///< channels, rounded up
  Partials parts;
};

/// The key tile's part of one block's scores: 2 x 4 sums of m r in every thread.
template <class Tile>
struct AdditiveKeyTile {
  const AdditiveRows<const float>& k;
  const AdditiveRows<const float>& q;
  int channels, padded;
  int first_query, queries;  ///< rows from `queries` on do not exist
  const float* exp_q;        ///< [kQueries, padded + 4]
  const float* m;
  float* keys;  ///< [kKeys, kKeyStride]

  __device__ __forceinline__ void read(float4 (&to)[4], int first, int end, int u) const {
    const int row = first + static_cast<int>(threadIdx.x) / 4;
    const int c = u + static_cast<int>(threadIdx.x) % 4 * 4;
    if (k.vectors && u + Tile::kUnits <= channels) {
      const auto* from = reinterpret_cast<const float4*>(k.base + row * k.row + c);
#pragma unroll
      for (int x = 0; x < 4; ++x) to[x] = row < end ? from[4 * x] : float4{};
    } else {
#pragma unroll
      for (int x = 0; x < 4; ++x)
        to[x] = row < end ? k.read4(row, c + 16 * x, channels) : float4{};
    }
  }

  __device__ __forceinline__ void store(const float4 (&from)[4], bool raw) const {
    float* to = keys + threadIdx.x / 4 * Tile::kKeyStride + threadIdx.x % 4 * 4;
#pragma unroll
    for (int x = 0; x < 4; ++x)
      store4(to + 16 * x, raw ? from[x] : map4(from[x], [](float y) { return exp_twice(y); }));
  }

  /// The sums by the definition: queries from global memory, keys as they are.
  __device__ __forceinline__ void definition(int u, float (&sums)[2][4]) const {
    const int tx = static_cast<int>(threadIdx.x) % 16;
    const int ty = static_cast<int>(threadIdx.x) / 16;
#pragma unroll 1
    for (int c = u; c < u + Tile::kUnits && c < channels; ++c) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int i = first_query + ty + 16 * r;
        const float x = i < queries ? *q.at(i, c) : 0.0f;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float y = keys[(tx + 16 * j) * Tile::kKeyStride + c - u];
          sums[r][j] = fmaf(m[c], additive_ratio(x, y), sums[r][j]);
        }
      }
    }
  }

  __device__ __forceinline__ void operator()(AdditiveRange q_range, int first, int end,
                                             float (&sums)[2][4]) const {
    const float* q_row = exp_q + threadIdx.x / 16 * (padded + 4);
    const float* k_row = keys + threadIdx.x % 16 * Tile::kKeyStride;
    float4 next[4];
    read(next, first, end, 0);
#pragma unroll 1
    for (int u = 0; u < padded; u += Tile::kUnits) {
      float top = 0.0f;
#pragma unroll
      for (int x = 0; x < 4; ++x) top = top_size(top, next[x]);
      const AdditiveRange range = block_range(wider(q_range, range_of(top)));
      store(next, range == AdditiveRange::any);
      if (u + Tile::kUnits < padded) read(next, first, end, u + Tile::kUnits);
      __syncthreads();
      if (range == AdditiveRange::small) {
        additive_sums<false>(q_row + u, 16 * (padded + 4), k_row, 16 * Tile::kKeyStride, m + u,
                             Tile::kUnits, sums);
      } else if (range == AdditiveRange::any) {
        definition(u, sums);
      } else {
        additive_sums<true>(q_row + u, 16 * (padded + 4), k_row, 16 * Tile::kKeyStride, m + u,
                            Tile::kUnits, sums);
      }
    }
  }
};

/// Adds a key's weights times 4 channels of its value to the thread's 8 rows.
template <bool kSomeHidden>
__device__ __forceinline__ void pool_key(const float* weights, const float4& value,
                                         float (&out)[8][4]) {
  const float4 a = *reinterpret_cast<const float4*>(weights);
  const float4 b = *reinterpret_cast<const float4*>(weights + 4);
  const float w[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    if (kSomeHidden && w[r] == 0.0f) continue;  // what is not looked at may be NaN
    out[r][0] = fmaf(w[r], value.x, out[r][0]);
    out[r][1] = fmaf(w[r], value.y, out[r][1]);
    out[r][2] = fmaf(w[r], value.z, out[r][2]);
    out[r][3] = fmaf(w[r], value.w, out[r][3]);
  }
}

/// Adds the tile's weights [kKeys, kPoolStride] times values to the thread's 8 rows. Values
/// come from global memory, some keys ahead: the L1 serves the warps that share them.
template <class Tile, bool kSomeHidden>
__device__ __forceinline__ void additive_pool(const float* weights,
                                              const AdditiveRows<const float>& v, int first,
                                              int count, int values,
                                              float (&out)[Tile::kSliceCount][8][4]) {
  constexpr int kAhead = 8;
  const float* row = weights + threadIdx.x / 64 * 8;
#pragma unroll
  for (int x = 0; x < Tile::kSliceCount; ++x) {
    const int c = static_cast<int>(threadIdx.x) % 64 * 4 + 256 * x;
    if (c >= values) break;
    int j = 0;
    if (v.vectors) {
      const float* from = v.base + first * v.row + c;
#pragma unroll 1
      for (; j + kAhead <= count; j += kAhead) {
        float4 value[kAhead];
#pragma unroll
        for (int y = 0; y < kAhead; ++y, from += v.row)
          value[y] = *reinterpret_cast<const float4*>(from);
#pragma unroll
        for (int y = 0; y < kAhead; ++y)
          pool_key<kSomeHidden>(row + (j + y) * Tile::kPoolStride, value[y], out[x]);
      }
    }
#pragma unroll 1
    for (; j < count; ++j)
      pool_key<kSomeHidden>(row + j * Tile::kPoolStride, v.read4(first + j, c, values), out[x]);
  }
}

template <class Tile, class St>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    additive_forward_kernel(const __grid_constant__ AdditiveForwardLaunch launch,
                            const __grid_constant__ St stages) {
  constexpr normalise::Softmax kSoftmax{};
  extern __shared__ float4 shared[];
  const ForwardArgs<float>& args = launch.args;
  const int channels = static_cast<int>(args.q.shape[3]);
  const int values = static_cast<int>(args.v.shape[3]);
  const int queries = static_cast<int>(args.q.shape[2]);
  const int keys = static_cast<int>(args.k.shape[2]);
  const int heads = static_cast<int>(args.q.shape[1]);
  const int padded = launch.padded;
  auto* exp_q = reinterpret_cast<float*>(shared);
  float* m = exp_q + Tile::kQueries * (padded + 4);
  float* key_tile = m + padded;
  float* weights = key_tile + Tile::kKeys * Tile::kKeyStride;
  float* row_scale = weights + Tile::kKeys * Tile::kPoolStride;

  const int first_query = static_cast<int>(blockIdx.x) * Tile::kQueries;
  const int split = static_cast<int>(blockIdx.y);
  const int b = static_cast<int>(blockIdx.z) / heads;
  const int h = static_cast<int>(blockIdx.z) % heads;
  const int kv_head = h / launch.group;
  const AdditiveRows<const float> q(args.q, b, h);
  const AdditiveRows<const float> k(args.k, b, kv_head);
  const AdditiveRows<const float> v(args.v, b, kv_head);
  const DeviceTable& w = launch.weights;
  const float total = read_weights<Tile::kThreads>(w.data + kv_head * w.strides[1],
                                                   w.strides[3], channels, padded, m);

  float q_top = 0.0f;
  visit_rows<Tile::kQueries, Tile::kThreads>(
      q, first_query, queries, channels, padded, [&](int i, int c, const float4& numbers) {
        q_top = top_size(q_top, numbers);
        store4(exp_q + i * (padded + 4) + c, map4(numbers, exp_twice_bounded));
      });
  const AdditiveRange q_range = block_range(query_range_of(q_top));

  const AdditiveKeyTile<Tile> key_sums{k,       q,     channels, padded,  first_query,
                                       queries, exp_q, m,        key_tile};
  const int tx = static_cast<int>(threadIdx.x) % 16;
  const int ty = static_cast<int>(threadIdx.x) / 16;
  float top[2] = {-kInfinity, -kInfinity};
  float mass[2] = {0.0f, 0.0f};
  float out[Tile::kSliceCount][8][4] = {};
  const int query_end = min(first_query + Tile::kQueries, queries);
  const std::int64_t tiles = (keys + Tile::kKeys - 1) / Tile::kKeys;
  const int last = static_cast<int>(tiles * (split + 1) / launch.parts.splits);
#pragma unroll 1
  for (int tile = static_cast<int>(tiles * split / launch.parts.splits); tile < last; ++tile) {
    const int first = tile * Tile::kKeys;
    const int end = min(first + Tile::kKeys, keys);
    const Cover cover = stages.mask.cover({b, h, {first_query, query_end}, {first, end}});
    if (cover == Cover::none && args.similarities.data == nullptr) continue;

    float s[2][4] = {};
    key_sums(q_range, first, end, s);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int i = first_query + ty + 16 * r;
      float row_top = top[r];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int j = first + tx + 16 * c;
        float score = -kInfinity;
        if (i < queries && j < end) {
          const float similarity = total + s[r][c];
          const Site<float> at{b, h, i, j};
          if (args.similarities.data != nullptr) *args.similarities.at(b, h, i, j) = similarity;
          if (cover == Cover::all || keeps(stages, at))
            score = modified(stages, stages.scale * similarity, at);
        }
        s[r][c] = score;
        row_top = max(row_top, score);
      }
#pragma unroll
      for (int offset = 8; offset > 0; offset /= 2)
        row_top = max(row_top, __shfl_xor_sync(0xffffffffu, row_top, offset));
      const float rescale = kSoftmax.rescale(top[r], row_top);
      top[r] = row_top;
      mass[r] *= rescale;
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const float weight = kSoftmax.weight(s[r][c], row_top);
        mass[r] += kSoftmax.mass(weight);
        weights[(tx + 16 * c) * Tile::kPoolStride + ty + 16 * r] = weight;
      }
      if (tx == 0) row_scale[ty + 16 * r] = rescale;
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 8; ++r) {
      const float rescale = row_scale[threadIdx.x / 64 * 8 + r];
#pragma unroll
      for (int x = 0; x < Tile::kSliceCount; ++x)
#pragma unroll
        for (float& sum : out[x][r]) sum *= rescale;
    }
    // A modifier chosen at run time may hide a key too, with a score of -inf.
    if (cover == Cover::all && !St::kRolled) {
      additive_pool<Tile, false>(weights, v, first, end - first, values, out);
    } else {
      additive_pool<Tile, true>(weights, v, first, end - first, values, out);
    }
    // The next tile's first barrier comes before its weights are written.
  }

  __syncthreads();
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int offset = 8; offset > 0; offset /= 2)
      mass[r] += __shfl_xor_sync(0xffffffffu, mass[r], offset);
    const Row<float> row = kSoftmax.finish(top[r], mass[r], DeviceParams{});
    if (tx != 0) continue;
    const int i = first_query + ty + 16 * r;
    row_scale[ty + 16 * r] = row.scale;
    if (i >= queries) continue;
    if (launch.parts.splits > 1) {
      const std::int64_t place = static_cast<std::int64_t>(blockIdx.z) * queries + i;
      launch.parts.lse[place * launch.parts.splits + split] = row.stat;
    } else if (args.stat.data != nullptr) {
      *args.stat.at(b, h, i) = row.stat;
    }
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const int i = static_cast<int>(threadIdx.x) / 64 * 8 + r;
    if (first_query + i >= queries) break;
    const float scale = row_scale[i];
    const std::int64_t place =
        static_cast<std::int64_t>(blockIdx.z) * queries + first_query + i;
#pragma unroll
    for (int x = 0; x < Tile::kSliceCount; ++x)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int c = static_cast<int>(threadIdx.x) % 64 * 4 + 256 * x + e;
        if (c >= values) continue;
        float* to = launch.parts.splits > 1
                        ? launch.parts.out + (place * launch.parts.splits + split) * values + c
                        : args.out.at(b, h, first_query + i, c);
        *to = out[x][r][e] * scale;
      }
  }
}

}  // namespace attn::gpu
