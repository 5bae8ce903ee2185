/// Decoding for several rows that share keys, on the matrix units: sixteen rows cost what one
/// does, because the kernel waits for memory.
///
/// Every warp has a ring of small tiles of keys and values in shared memory, filled in the
/// background, and meets the other warps only at the end.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>

#include "attn/core/concepts.hpp"
#include "attn/core/math.hpp"
#include "attn/kernels/gpu/functor/copy.cuh"
#include "attn/kernels/gpu/functor/decode_merge.cuh"
#include "attn/kernels/gpu/functor/decode_stages.cuh"
#include "attn/kernels/gpu/functor/decode_tile.cuh"
#include "attn/kernels/gpu/functor/hidden.cuh"
#include "attn/kernels/gpu/functor/mma.cuh"
#include "attn/normalise/softmax.hpp"

namespace attn::gpu {

/// Sixteen rows and steps of sixteen keys of a 16-bit type, kDim channels (padded).
template <class T, int kDim>
struct DecodeMatrixTile {
  static_assert(sizeof(T) == 2);
  static constexpr int kChannels = kDim;
  static constexpr int kRowCount = 16;
  static constexpr int kKeys = 16;   ///< of a step
  static constexpr int kSteps = 4;   ///< between two questions about the mask
  static constexpr int kStages = 3;  ///< steps in the ring: one is worked on, two are under way
  static constexpr int kWarps = 4;
  static constexpr int kStride = kDim + Mma<T>::kPad;
  static constexpr int kTile = kKeys * kStride;  ///< elements
  static constexpr std::size_t kSharedBytes =
      sizeof(T) * kTile * (1 + 2 * kStages * kWarps);  // the queries', then the rings
  static_assert(kSharedBytes >= sizeof(float) * kWarps * kRowCount * (kDim + 1));
};

/// Sixteen keys of one warp: where they are and what the mask says of them.
struct DecodeStep {
  int first = 0;
  int end = 0;  ///< of the keys that exist; first == end: no step
  Cover cover = Cover::none;
};

/// The steps of one warp, one after the other; spans that no row sees are left out.
template <class Tile, class M>
struct DecodeSteps {
  const M& mask;
  int b, keys, last;  ///< spans before `last` are this block's
  int span;           ///< the warp's next one
  DecodePlace row;    ///< lane l asks for row l
  DecodeStep now{};

  __device__ __forceinline__ DecodeStep next() {
    constexpr int kSpan = Tile::kSteps * Tile::kKeys;
    now.first += Tile::kKeys;
    while (now.first >= now.end && span < last) {
      now.first = span * kSpan;
      now.end = min(now.first + kSpan, keys);
      span += Tile::kWarps;
      Cover cover = Cover::all;
      if (row.head >= 0)
        cover = mask.cover({b, row.head, {row.query, row.query + 1}, {now.first, now.end}});
      const bool any = __any_sync(0xffffffffu, row.head >= 0 && cover != Cover::none);
      const bool every = __all_sync(0xffffffffu, row.head < 0 || cover == Cover::all);
      now.cover = !any ? Cover::none : every ? Cover::all : Cover::some;
      if (!any) now.first = now.end;
    }
    if (now.first >= now.end) return {};
    return now;
  }
};

/// Starts reading the rows of a step into a tile; rows that do not exist become zeros. For rows
/// of whole 16 bytes, and pages of a power of two: the loop stays short enough for the
/// instruction cache.
template <class Tile, class T>
__device__ __forceinline__ void copy_step(T* tile, const DecodeRows<T>& rows,
                                          const DecodeStep& step, int channels) {
  constexpr int kPiece = DecodeChunk<T>::kCount;
  constexpr int kLanes = Tile::kChannels / kPiece;  ///< of one row
  constexpr int kSlots = 32 / kLanes;               ///< rows that one copy reads
  const int c = lane_id() % kLanes * kPiece;
  const int row = lane_id() / kLanes;
  T* to = tile + row * Tile::kStride + c;
  const int left = c < channels ? step.end - step.first - row : 0;
  if (rows.pages == nullptr) {
    const T* from = rows.base + (step.first + row) * rows.row + c;
#pragma unroll
    for (int x = 0; x < Tile::kKeys; x += kSlots, from += kSlots * rows.row)
      copy_piece(to + x * Tile::kStride, from, x < left);
  } else {
#pragma unroll
    for (int x = 0; x < Tile::kKeys; x += kSlots) {
      const int key = x < left ? step.first + row + x : step.first;
      const int index = key >> rows.page_shift;
      const int rest = key - (index << rows.page_shift);
      copy_piece(to + x * Tile::kStride,
                 rows.base + rows.pages[index] * rows.page + rest * rows.row + c, x < left);
    }
  }
}

/// The same for all other rows, element by element.
template <class Tile, class T>
__device__ __noinline__ void gather_step(T* tile, DecodeRows<T> rows, DecodeStep step,
                                         int channels) {
  for (int x = lane_id(); x < Tile::kKeys * Tile::kChannels; x += 32) {
    const int row = x / Tile::kChannels;
    const int c = x % Tile::kChannels;
    T number{};
    if (step.first + row < step.end && c < channels)
      number = rows.at(step.first + row)[c * rows.channel];
    tile[row * Tile::kStride + c] = number;
  }
}

/// What a warp has pooled: the sums' two rows of a lane are lane / 4 and lane / 4 + 8.
template <class Tile>
struct DecodeMatrixState {
  float top[2] = {-kInfinity, -kInfinity};
  float sum[2] = {0.0f, 0.0f};  ///< of this lane's columns
  Block16x8 out[Tile::kChannels / 8] = {};
};

/// What a row does not see may be NaN, and the matrix units would multiply it by 0: such values
/// are pooled here, where they have a weight, and cleared. `hidden` are the keys that some row
/// does not see.
template <class Tile, class T>
__device__ __forceinline__ void pool_non_finite(DecodeMatrixState<Tile>& state,
                                                const Block16x8 (&s)[2], T* values,
                                                std::uint32_t hidden) {
  const int lane = lane_id();
#pragma unroll 1
  for (; hidden != 0; hidden &= hidden - 1) {
    const int key = __ffs(static_cast<int>(hidden)) - 1;
    T* const value = values + key * Tile::kStride;
    bool finite = true;
    for (int c = lane; c < Tile::kChannels; c += 32)
      finite = finite && isfinite(to_float(value[c]));
    if (__all_sync(0xffffffffu, finite)) continue;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float own = 0.0f;  // the weight that a lane of these four has
#pragma unroll
      for (int x = 0; x < 4; ++x)
        if (x == key / 8 * 2 + key % 2) own = s[x / 2][2 * r + x % 2];
      const float weight = __shfl_sync(0xffffffffu, own, lane / 4 * 4 + key % 8 / 2);
      if (weight == 0.0f) continue;
#pragma unroll
      for (int x = 0; x < 2 * (Tile::kChannels / 8); ++x) {
        float& sum = state.out[x / 2][2 * r + x % 2];
        sum = fmaf(weight, to_float(value[x / 2 * 8 + lane % 4 * 2 + x % 2]), sum);
      }
    }
    __syncwarp();  // all lanes have read it
    for (int c = lane; c < Tile::kChannels; c += 32) value[c].bits = 0;
  }
  __syncwarp();
}

/// Scores of a step become weights.
template <class Tile, class St, class T>
__device__ __forceinline__ void weigh_matrix(DecodeMatrixState<Tile>& state, const St& stages,
                                             const DecodePlace (&rows)[2],
                                             const DecodeStep& step, int b, Block16x8 (&s)[2],
                                             T* values) {
  constexpr normalise::Softmax kSoftmax{};
  const int lane = lane_id();
  std::uint32_t hidden = 0;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float top = state.top[r];
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int column = x / 2 * 8 + lane % 4 * 2 + x % 2;
      const Site<float> at{b, rows[r].head, rows[r].query, step.first + column};
      float& score = s[x / 2][2 * r + x % 2];
      const bool kept =
          at.k < step.end && at.head >= 0 && (step.cover == Cover::all || keeps(stages, at));
      score = kept ? modified(stages, stages.scale * score, at) : -kInfinity;
      hidden |= kept || at.head < 0 ? 0u : 1u << column;
      top = max(top, score);
    }
    top = max(top, __shfl_xor_sync(0xffffffffu, top, 1));
    top = max(top, __shfl_xor_sync(0xffffffffu, top, 2));
    const float rescale = kSoftmax.rescale(state.top[r], top);
    state.top[r] = top;
    state.sum[r] *= rescale;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      float& score = s[x / 2][2 * r + x % 2];
      score = kSoftmax.weight(score, top);
      state.sum[r] += kSoftmax.mass(score);
    }
#pragma unroll
    for (Block16x8& out : state.out) {
      out[2 * r] *= rescale;
      out[2 * r + 1] *= rescale;
    }
  }
  if constexpr (kMayHide<St>) {
    if (step.cover == Cover::all) return;
    hidden = __reduce_or_sync(0xffffffffu, hidden);
    if (hidden != 0) pool_non_finite(state, s, values, hidden);
  }
}

/// The scores of sixteen rows and keys, then their weights times the values.
template <class Tile, class St, class T>
__device__ __forceinline__ void matrix_step(DecodeMatrixState<Tile>& state, const St& stages,
                                            const DecodePlace (&rows)[2],
                                            const DecodeStep& step, int b, const T* queries,
                                            const T* keys, T* values) {
  using Unit = Mma<T>;
  constexpr int kStride = Tile::kStride;
  Block16x8 s[2] = {};
#pragma unroll
  for (int c = 0; c < Tile::kChannels; c += Unit::kDepth)
    Unit::multiply(s, Unit::template load_a<kStride>(queries, 0, c),
                   Unit::template load_b<kStride>(keys, 0, c));
  weigh_matrix(state, stages, rows, step, b, s, values);
  const typename Unit::A weights = Unit::from_sums(s);
#pragma unroll
  for (int c = 0; c < Tile::kChannels; c += 16)
    Unit::multiply(state.out + c / 8, weights,
                   Unit::template load_b_transposed<kStride>(values, c, 0));
}

/// One block: a part of the keys of one sequence and kv head, and up to sixteen rows.
template <class Tile, class T, class St, class N>
__global__ void __launch_bounds__(32 * Tile::kWarps, 2)
    decode_matrix_kernel(const __grid_constant__ DecodeLaunch<T> launch,
                         const __grid_constant__ St stages,
                         const __grid_constant__ RowWriter<T, N> writer) {
  extern __shared__ uint4 shared[];
  const DecodeBlock<T> block(launch);
  const int lane = lane_id();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int channels = static_cast<int>(launch.q.shape[3]);
  const int values = static_cast<int>(launch.v.shape[3]);
  auto* queries = reinterpret_cast<T*>(shared);
  T* ring = queries + Tile::kTile * (1 + 2 * Tile::kStages * warp);

#pragma unroll
  for (int r = warp; r < Tile::kRowCount; r += Tile::kWarps) {
    const DecodePlace place = block.place(launch, r, Tile::kRowCount);
    const bool exists = place.head >= 0;
    const T* from = launch.q.at(block.b, exists ? place.head : 0, place.query);
#pragma unroll
    for (int c = lane; c < Tile::kChannels; c += 32) {
      T number{};
      if (exists && c < channels) number = from[c * launch.q.strides[3]];
      queries[r * Tile::kStride + c] = number;
    }
  }
  __syncthreads();

  const DecodePlace rows[2] = {block.place(launch, lane / 4, Tile::kRowCount),
                               block.place(launch, lane / 4 + 8, Tile::kRowCount)};
  const DecodeRows<T> k_rows(launch.k, launch, block.b, block.kv_head);
  const DecodeRows<T> v_rows(launch.v, launch, block.b, block.kv_head);
  const Span spans = block.spans(launch, Tile::kSteps * Tile::kKeys);
  DecodeSteps<Tile, decltype(stages.mask)> steps{
      stages.mask,
      block.b,
      block.keys,
      spans.end,
      spans.begin + warp,
      lane < 16 ? block.place(launch, lane, Tile::kRowCount) : DecodePlace{}};
  const bool copies = launch.vectors && (k_rows.pages == nullptr || launch.page_shift >= 0);

  // Step t is asked for while step t - 2 is worked on; the first two rounds only ask.
  DecodeMatrixState<Tile> state;
  DecodeStep now;
  DecodeStep then;
#pragma unroll 1
  for (int t = 0; t < 2 || now.first < now.end; ++t) {
    copy_wait<1>();
    __syncwarp();  // all lanes see the tiles of step t - 2, and are done with those of t - 3
    const DecodeStep later = steps.next();
    T* next = ring + t % Tile::kStages * 2 * Tile::kTile;
    if (later.first < later.end) {
      if (copies) {
        copy_step<Tile>(next, k_rows, later, channels);
        copy_step<Tile>(next + Tile::kTile, v_rows, later, values);
      } else {
        gather_step<Tile>(next, k_rows, later, channels);
        gather_step<Tile>(next + Tile::kTile, v_rows, later, values);
      }
    }
    copy_commit();
    if (now.first < now.end) {
      T* tiles = ring + (t + 1) % Tile::kStages * 2 * Tile::kTile;
      matrix_step(state, stages, rows, now, block.b, queries, tiles, tiles + Tile::kTile);
    }
    now = then;
    then = later;
  }
  copy_wait<0>();

  __syncthreads();
  auto* outs = reinterpret_cast<float*>(shared);
  float* sums = outs + Tile::kWarps * Tile::kRowCount * Tile::kChannels;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float sum = state.sum[r];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    const Row<float> row = normalise::Softmax{}.finish(state.top[r], sum, DeviceParams{});
    const int place = warp * Tile::kRowCount + lane / 4 + 8 * r;
    if (lane % 4 == 0) sums[place] = row.stat;
#pragma unroll
    for (int x = 0; x < Tile::kChannels / 8; ++x) {
      float* to = outs + place * Tile::kChannels + x * 8 + lane % 4 * 2;
      to[0] = state.out[x][2 * r] * row.scale;
      to[1] = state.out[x][2 * r + 1] * row.scale;
    }
  }
  __syncthreads();
  merge_warps<Tile>(outs, sums, launch, block, writer);
}

}  // namespace attn::gpu
