/// The kernel that reads the keys and values of one part for a few rows.
///
/// It is bound by memory: a warp asks for all keys and values of a step before it looks at the
/// first, straight into registers, and nothing is shared between warps until the end.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/concepts.hpp"
#include "attn/core/math.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/functor/decode_merge.cuh"
#include "attn/kernels/gpu/functor/decode_stages.cuh"
#include "attn/kernels/gpu/functor/decode_tile.cuh"
#include "attn/kernels/gpu/functor/stages.cuh"
#include "attn/normalise/softmax.hpp"
#include "attn/pool/state.hpp"

namespace attn::gpu {

/// Sums over the kLanes lanes of a key; of kLoads sums, lane l keeps number l / kShare.
template <class Tile>
__device__ __forceinline__ float sum_lanes(float (&sums)[Tile::kLoads], int lane) {
  int offset = Tile::kLanes / 2;
#pragma unroll
  for (int count = Tile::kLoads / 2; count > 0; count /= 2, offset /= 2) {
    const bool upper = (lane & offset) != 0;
#pragma unroll
    for (int u = 0; u < count; ++u) {
      const float sent = upper ? sums[u] : sums[u + count];
      const float kept = upper ? sums[u + count] : sums[u];
      sums[u] = kept + __shfl_xor_sync(0xffffffffu, sent, offset);
    }
  }
#pragma unroll
  for (; offset > 0; offset /= 2) sums[0] += __shfl_xor_sync(0xffffffffu, sums[0], offset);
  return sums[0];
}

/// One warp's rows on their way along the keys.
template <class Tile>
struct DecodeState {
  static constexpr int kEach = Tile::kPiece * Tile::kChunks;  ///< channels of a lane
  int head[Tile::kRowCount];                                  ///< -1 where there is no row
  int query[Tile::kRowCount];
  float q[Tile::kRowCount][kEach];
  float out[Tile::kRowCount][kEach] = {};
  float top[Tile::kRowCount];
  float sum[Tile::kRowCount] = {};  ///< of the scores this lane kept
};

/// The lane's pieces of the keys [first, first + kKeys) that come before `end`.
template <class Tile, bool kVectors, class T>
__device__ __forceinline__ void read_step(DecodeChunk<T> (&to)[Tile::kLoads][Tile::kChunks],
                                          const DecodeRows<T>& rows, int first, int end,
                                          int channels, int lane) {
#pragma unroll
  for (int u = 0; u < Tile::kLoads; ++u) {
    const int key = first + u * Tile::kSlots + lane / Tile::kLanes;
    const bool exists = key < end;
    const T* from = rows.at(exists ? key : first);
#pragma unroll
    for (int x = 0; x < Tile::kChunks; ++x) {
      const int c = (x * Tile::kLanes + lane % Tile::kLanes) * Tile::kPiece;
      if constexpr (kVectors) {
        to[u][x].read(from + c, exists && c < channels);
      } else {
        to[u][x].gather(from + c * rows.channel, rows.channel, exists ? channels - c : 0);
      }
    }
  }
}

/// The scores of a step, one a lane and row: of key first + own.
template <class Tile, class T>
__device__ __forceinline__ void dot_step(const DecodeState<Tile>& state,
                                         const DecodeChunk<T> (&k)[Tile::kLoads][Tile::kChunks],
                                         int lane, float (&s)[Tile::kRowCount]) {
  float sums[Tile::kRowCount][Tile::kLoads] = {};
#pragma unroll
  for (int u = 0; u < Tile::kLoads; ++u) {
#pragma unroll
    for (int x = 0; x < Tile::kChunks; ++x) {
      float wide[Tile::kPiece];
      k[u][x].widen(wide);
#pragma unroll
      for (int r = 0; r < Tile::kRowCount; ++r)
#pragma unroll
        for (int i = 0; i < Tile::kPiece; ++i)
          sums[r][u] = fmaf(state.q[r][x * Tile::kPiece + i], wide[i], sums[r][u]);
    }
  }
#pragma unroll
  for (int r = 0; r < Tile::kRowCount; ++r) s[r] = sum_lanes<Tile>(sums[r], lane);
}

/// Adds weight * value of a step; w is the weight of the lane's own key. What is hidden may be
/// NaN, and is left out.
template <class Tile, bool kSomeHidden, class T>
__device__ __forceinline__ void pool_step(
    DecodeState<Tile>& state, const DecodeChunk<T> (&v)[Tile::kLoads][Tile::kChunks], int lane,
    const float (&w)[Tile::kRowCount]) {
#pragma unroll
  for (int u = 0; u < Tile::kLoads; ++u) {
    float weight[Tile::kRowCount];
#pragma unroll
    for (int r = 0; r < Tile::kRowCount; ++r)
      weight[r] =
          __shfl_sync(0xffffffffu, w[r], lane / Tile::kLanes * Tile::kLanes + u * Tile::kShare);
#pragma unroll
    for (int x = 0; x < Tile::kChunks; ++x) {
      float wide[Tile::kPiece];
      v[u][x].widen(wide);
#pragma unroll
      for (int r = 0; r < Tile::kRowCount; ++r) {
        if (kSomeHidden && weight[r] == 0.0f) continue;
#pragma unroll
        for (int i = 0; i < Tile::kPiece; ++i) {
          float& sum = state.out[r][x * Tile::kPiece + i];
          sum = fmaf(weight[r], wide[i], sum);
        }
      }
    }
  }
}

/// How much of keys [begin, end) the rows see.
template <class Tile, class M>
__device__ __forceinline__ Cover cover_rows(const M& mask, const DecodeState<Tile>& state,
                                            int b, int begin, int end) {
  bool any = false;
  bool every = true;
#pragma unroll
  for (int r = 0; r < Tile::kRowCount; ++r) {
    if (state.head[r] < 0) continue;
    const Cover cover =
        mask.cover({b, state.head[r], {state.query[r], state.query[r] + 1}, {begin, end}});
    any = any || cover != Cover::none;
    every = every && cover == Cover::all;
  }
  return !any ? Cover::none : every ? Cover::all : Cover::some;
}

/// Scores become weights: the modifier, the mask, and the softmax along the keys.
template <class Tile, class St>
__device__ __forceinline__ void weigh_step(DecodeState<Tile>& state, const St& stages,
                                           Cover cover, int b, int key, bool exists,
                                           float (&s)[Tile::kRowCount]) {
  constexpr normalise::Softmax kSoftmax{};
#pragma unroll
  for (int r = 0; r < Tile::kRowCount; ++r) {
    float score = -kInfinity;
    if (exists && state.head[r] >= 0) {
      const Site<float> at{b, state.head[r], state.query[r], key};
      if (cover == Cover::all || keeps(stages, at)) score = modified(stages, s[r], at);
    }
    float top = score;
#pragma unroll
    for (int offset = 16; offset >= Tile::kShare; offset /= 2)
      top = max(top, __shfl_xor_sync(0xffffffffu, top, offset));
    top = max(top, state.top[r]);
    const float rescale = kSoftmax.rescale(state.top[r], top);
    s[r] = kSoftmax.weight(score, top);
    state.sum[r] = state.sum[r] * rescale + kSoftmax.mass(s[r]);
    state.top[r] = top;
#pragma unroll
    for (float& out : state.out[r]) out *= rescale;
  }
}

/// Each warp's rows, divided by their sums, then all warps' together.
template <class Tile, class T, class N>
__device__ void finish_rows(DecodeState<Tile>& state, const DecodeLaunch<T>& launch,
                            const RowWriter<T, N>& writer, const DecodeBlock<T>& block) {
  __shared__ float outs[Tile::kWarps][Tile::kRowCount][Tile::kChannels];
  __shared__ float sums[Tile::kWarps][Tile::kRowCount];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int r = 0; r < Tile::kRowCount; ++r) {
    float sum = lane % Tile::kShare == 0 ? state.sum[r] : 0.0f;
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    const Row<float> row = normalise::Softmax{}.finish(state.top[r], sum, DeviceParams{});
    if (lane == 0) sums[warp][r] = row.stat;
#pragma unroll
    for (int i = 0; i < DecodeState<Tile>::kEach; ++i) {
      float out = state.out[r][i];
#pragma unroll
      for (int offset = Tile::kLanes; offset < 32; offset *= 2)
        out += __shfl_xor_sync(0xffffffffu, out, offset);
      const int x = i / Tile::kPiece;
      const int c = (x * Tile::kLanes + lane % Tile::kLanes) * Tile::kPiece + i % Tile::kPiece;
      if (lane < Tile::kLanes) outs[warp][r][c] = out * row.scale;
    }
  }
  __syncthreads();
  merge_warps<Tile>(&outs[0][0][0], &sums[0][0], launch, block, writer);
}

/// One block: a part of the keys of one sequence and kv head, and up to kRowCount rows.
template <class Tile, class T, class St, class N>
__global__ void __launch_bounds__(32 * Tile::kWarps, Tile::kBlocks)
    decode_kernel(const __grid_constant__ DecodeLaunch<T> launch,
                  const __grid_constant__ St stages,
                  const __grid_constant__ RowWriter<T, N> writer) {
  const DecodeBlock<T> block(launch);
  const int b = block.b;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int channels = static_cast<int>(launch.q.shape[3]);
  const int values = static_cast<int>(launch.v.shape[3]);

  DecodeState<Tile> state;
#pragma unroll
  for (int r = 0; r < Tile::kRowCount; ++r) {
    const DecodePlace place = block.place(launch, r, Tile::kRowCount);
    const bool exists = place.head >= 0;
    state.head[r] = place.head;
    state.query[r] = place.query;
    state.top[r] = -kInfinity;
#pragma unroll
    for (int i = 0; i < DecodeState<Tile>::kEach; ++i) {
      const int x = i / Tile::kPiece;
      const int c = (x * Tile::kLanes + lane % Tile::kLanes) * Tile::kPiece + i % Tile::kPiece;
      state.q[r][i] = exists && c < channels
                          ? stages.scale * static_cast<float>(*launch.q.at(b, state.head[r],
                                                                           state.query[r], c))
                          : 0.0f;
    }
  }

  const DecodeRows<T> k_rows(launch.k, launch, b, block.kv_head);
  const DecodeRows<T> v_rows(launch.v, launch, b, block.kv_head);
  const int own = lane % Tile::kLanes / Tile::kShare * Tile::kSlots + lane / Tile::kLanes;
  const Span spans = block.spans(launch, Tile::kSpan);
  for (int span = spans.begin + warp; span < spans.end; span += Tile::kWarps) {
    const int begin = span * Tile::kSpan;
    const int end = min(begin + Tile::kSpan, block.keys);
    const Cover cover = cover_rows<Tile>(stages.mask, state, b, begin, end);
    if (cover == Cover::none) continue;
#pragma unroll 1
    for (int first = begin; first < end; first += Tile::kKeys) {
      DecodeChunk<T> k[Tile::kLoads][Tile::kChunks];
      DecodeChunk<T> v[Tile::kLoads][Tile::kChunks];
      if (launch.vectors) {
        read_step<Tile, true>(k, k_rows, first, end, channels, lane);
        read_step<Tile, true>(v, v_rows, first, end, values, lane);
      } else {
        read_step<Tile, false>(k, k_rows, first, end, channels, lane);
        read_step<Tile, false>(v, v_rows, first, end, values, lane);
      }
      float w[Tile::kRowCount];
      dot_step<Tile>(state, k, lane, w);
      weigh_step<Tile>(state, stages, cover, b, first + own, first + own < end, w);
      // A modifier chosen at run time may hide a key too, with a score of -inf.
      if (cover == Cover::all && !St::kRolled) {
        pool_step<Tile, false>(state, v, lane, w);
      } else {
        pool_step<Tile, true>(state, v, lane, w);
      }
    }
  }
  finish_rows<Tile>(state, launch, writer, block);
}

}  // namespace attn::gpu
