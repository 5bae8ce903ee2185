/// The backward kernel of additive attention: a tile of keys against some of the queries.
///
/// With r = 1 / (1 + e^2(q+k)): tanh = 1 - 2 r and 1 - tanh^2 = 4 r (1 - r), so
/// dq_c = 4 w_c sum_j ds r (1 - r), dk_c the same over i, dw_c = sum ds - 2 sum ds r.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/attention.hpp"
#include "attn/kernels/gpu/functor/additive_backward_tile.cuh"
#include "attn/kernels/gpu/functor/additive_scores.cuh"
#include "attn/kernels/gpu/functor/copy.cuh"
#include "attn/kernels/gpu/functor/decode_stages.cuh"
#include "attn/kernels/gpu/functor/mma.cuh"
#include "attn/normalise/softmax.hpp"

namespace attn::gpu {

struct AdditiveBackwardLaunch {
  BackwardArgs<float> args;
  DeviceTable weights;
  DeviceTableGrad d_weights;
  int group = 1;   ///< heads that share a kv head
  int splits = 1;  ///< blocks that share a key tile; their dk and dv are added atomically
};

/// One of the tiles of queries that a block walks over.
struct AdditiveQueryTile {
  int h, first, end;
};

/// One block's walk over queries for its tile of keys.
template <class Tile, class St>
struct AdditiveBackward {
  static constexpr int kEach = Tile::kEach;
  static constexpr int kParts = kMaxAdditiveChannels / Tile::kOwners;  ///< channels of a thread
  const AdditiveBackwardLaunch& launch;
  const St& stages;
  int b, kv_head, first_key, key_end;
  int channels, values, queries;
  int stride, value_stride;
  float total;  ///< of w
  AdditiveRange k_range;
  float *exp_q, *exp_k, *dk, *v, *d_out, *dv, *weights, *ds, *m, *stat, *delta;
  float ds_sum = 0.0f;

  __device__ AdditiveBackward(const AdditiveBackwardLaunch& from, const St& with, float* shared)
      : launch(from), stages(with) {
    const auto& args = launch.args;
    const int kv_heads = static_cast<int>(args.k.shape[1]);
    b = static_cast<int>(blockIdx.z) / kv_heads;
    kv_head = static_cast<int>(blockIdx.z) % kv_heads;
    first_key = static_cast<int>(blockIdx.x) * Tile::kRows;
    key_end = min(first_key + Tile::kRows, static_cast<int>(args.k.shape[2]));
    channels = static_cast<int>(args.q.shape[3]);
    values = static_cast<int>(args.v.shape[3]);
    queries = static_cast<int>(args.q.shape[2]);
    stride = Tile::stride(channels);
    value_stride = Tile::stride(values);
    exp_q = shared;
    exp_k = exp_q + Tile::kRows * stride;
    dk = exp_k + Tile::kRows * stride;
    v = dk + Tile::kRows * stride;
    d_out = v + Tile::kRows * value_stride;
    dv = d_out + Tile::kRows * value_stride;
    weights = dv + Tile::kRows * value_stride;
    ds = weights + Tile::kRows * Tile::kPairStride;
    m = ds + Tile::kRows * Tile::kPairStride;
    stat = m + stride;
    delta = stat + Tile::kRows;
  }

  /// Keys and values stay in shared memory.
  __device__ void begin() {
    const DeviceTable& w = launch.weights;
    total = read_weights<Tile::kThreads>(w.data + kv_head * w.strides[1], w.strides[3],
                                         channels, stride, m);
    float top = 0.0f;
    visit_rows<Tile::kRows, Tile::kThreads>(
        AdditiveRows<const float>(launch.args.k, b, kv_head), first_key, key_end, channels,
        Tile::padded(channels), [&](int row, int c, const float4& x) {
          top = top_size(top, x);
          store4(exp_k + row * stride + c, map4(x, exp_twice));
        });
    visit_rows<Tile::kRows, Tile::kThreads>(
        AdditiveRows<const float>(launch.args.v, b, kv_head), first_key, key_end, values,
        Tile::padded(values),
        [&](int row, int c, const float4& x) { store4(v + row * value_stride + c, x); });
    for (int x = static_cast<int>(threadIdx.x); x < Tile::kRows * stride; x += Tile::kThreads)
      dk[x] = 0.0f;
    for (int x = static_cast<int>(threadIdx.x); x < Tile::kRows * value_stride;
         x += Tile::kThreads)
      dv[x] = 0.0f;
    k_range = block_range(range_of(top));
  }

  /// Starts reading a tile of queries and the gradients of their outputs; nobody may need the
  /// one before any more.
  __device__ void ask_queries(const AdditiveQueryTile& tile) {
    const auto [h, first, end] = tile;
    copy_rows(exp_q, stride, AdditiveRows<const float>(launch.args.q, b, h), first, end,
              channels);
    copy_rows(d_out, value_stride, AdditiveRows<const float>(launch.args.d_out, b, h), first,
              end, values);
    copy_commit();
  }
  __device__ __forceinline__ void copy_rows(float* to, int to_stride,
                                            const AdditiveRows<const float>& from, int first,
                                            int end, int count) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll 1
    for (int row = warp; row < Tile::kRows; row += Tile::kWarps)
#pragma unroll 1
      for (int c = lane * 4; c < Tile::padded(count); c += 128) {
        float* place = to + row * to_stride + c;
        const bool exists = first + row < end && c < count;
        if (from.vectors) {
          copy_piece(place, exists ? from.at(first + row, c) : from.base, exists);
        } else {
          store4(place, exists ? from.read4(first + row, c, count) : float4{});
        }
      }
  }

  /// What was asked for is there: each thread makes exponentials of what it has copied; and two
  /// numbers a row, delta by the warp that has its gradients of the output.
  __device__ AdditiveRange take_queries(const AdditiveQueryTile& tile) {
    const auto [h, first, end] = tile;
    const auto& args = launch.args;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const AdditiveRows<const float> out(args.out, b, h);
    float top = 0.0f;
    copy_wait<0>();
#pragma unroll 1
    for (int row = warp; row < Tile::kRows; row += Tile::kWarps) {
      const int i = first + row;
      const bool exists = i < end;
      const float row_stat = exists ? *args.stat.at(b, h, i) : 0.0f;
      const float d_stat =
          exists && args.d_stat.data != nullptr ? *args.d_stat.at(b, h, i) : 0.0f;
      float sum = 0.0f;
#pragma unroll 1
      for (int c = lane * 4; c < max(Tile::padded(values), Tile::padded(channels)); c += 256) {
        float4 outs[2];  // asked for before the exponentials
#pragma unroll
        for (int x = 0; x < 2; ++x)
          outs[x] =
              exists && c + 128 * x < values ? out.read4(i, c + 128 * x, values) : float4{};
#pragma unroll
        for (int x = 0; x < 2; ++x) {
          if (c + 128 * x >= Tile::padded(channels)) break;
          float* place = exp_q + row * stride + c + 128 * x;
          const float4 numbers = *reinterpret_cast<const float4*>(place);
          top = top_size(top, numbers);
          store4(place, map4(numbers, exp_twice_bounded));
        }
#pragma unroll
        for (int x = 0; x < 2; ++x) {
          if (c + 128 * x >= Tile::padded(values)) break;
          const float4 up =
              *reinterpret_cast<const float4*>(d_out + row * value_stride + c + 128 * x);
          sum += up.x * outs[x].x + up.y * outs[x].y + up.z * outs[x].z + up.w * outs[x].w;
        }
      }
      sum = warp_sum(sum);
      if (lane != 0) continue;
      delta[row] = sum - d_stat;
      stat[row] = row_stat;
    }
    return block_range(wider(k_range, query_range_of(top)));
  }

  /// Sums of m r for the thread's pairs.
  __device__ void sums(AdditiveRange range, const AdditiveQueryTile& tile,
                       const SharedPairs<Tile>& mine, float (&s)[kEach]) const {
    if (range != AdditiveRange::any) {
      const float* q_row = exp_q + mine.q * stride + mine.share * 4;
      const float* k_row = exp_k + mine.k * stride + mine.share * 4;
      const float* m_row = m + mine.share * 4;
      const int step = SharedPairs<Tile>::kStep * stride;
      float all[4][4] = {};
      if (range == AdditiveRange::small) {
        additive_sums<false, Tile::kStep>(q_row, step, k_row, step, m_row,
                                          Tile::padded(channels), all);
      } else {
        additive_sums<true, Tile::kStep>(q_row, step, k_row, step, m_row,
                                         Tile::padded(channels), all);
      }
      mine.sum(all, s);
      return;
    }
    const AdditiveRows<const float> q(launch.args.q, b, tile.h);
    const AdditiveRows<const float> k(launch.args.k, b, kv_head);
    const int i = tile.first + mine.own_q;
#pragma unroll 1
    for (int c = 0; i < tile.end && c < channels; ++c)
#pragma unroll
      for (int x = 0; x < kEach; ++x) {
        const int j = first_key + mine.key(x);
        if (j < key_end) s[x] = fmaf(m[c], additive_ratio(*q.at(i, c), *k.at(j, c)), s[x]);
      }
  }

  /// Weights and gradients of scores of the tile into shared memory.
  __device__ void pairs(AdditiveRange range, Cover cover, const AdditiveQueryTile& tile) {
    const auto [h, first, end] = tile;
    constexpr normalise::Softmax kSoftmax{};
    const SharedPairs<Tile> mine;
    float s[kEach] = {};
    float dots[kEach];
    sums(range, tile, mine, s);
    shared_dots(mine, d_out, v, value_stride, Tile::padded(values), dots);
    const int row = mine.own_q;
#pragma unroll
    for (int x = 0; x < kEach; ++x) {
      const int place = mine.key(x) * Tile::kPairStride + row;
      const Site<float> at{b, h, first + row, first_key + mine.key(x)};
      float weight = 0.0f;
      float grad = 0.0f;
      if (at.q < end && at.k < key_end && (cover == Cover::all || keeps(stages, at))) {
        const float similarity = stages.scale * (total + s[x]);
        const float score = modified(stages, similarity, at);
        // A score of -inf is a masked score.
        if (score != -kInfinity) {
          weight = kSoftmax.final_weight(score, stat[row], at);
          const float slope = kSoftmax.final_slope(score, weight, stat[row], at);
          grad = stages.scale *
                 modified_back(stages, slope * (dots[x] - delta[row]), similarity, at);
        }
      }
      weights[place] = weight;
      ds[place] = grad;
      ds_sum += grad;
    }
    __syncthreads();
  }

  /// Channel by channel: dq goes out, dk and dw are kept. Groups of threads meet different keys
  /// at a time, so that each adds to dk alone. Calls `meanwhile` where queries and gradients of
  /// outputs in shared memory have served.
  template <class Meanwhile>
  __device__ void channel_grads(AdditiveRange range, const AdditiveQueryTile& tile,
                                float (&dw)[kParts], const Meanwhile& meanwhile) {
    const auto [h, first, end] = tile;
    const int group = static_cast<int>(threadIdx.x) / Tile::kOwners;
    const int row = 16 * group;
    if (channels == 0) {
      __syncthreads();
      meanwhile();
    }
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if (part * Tile::kOwners >= channels) break;
      const int c = part * Tile::kOwners + static_cast<int>(threadIdx.x) % Tile::kOwners;
      const bool works = c < channels && first + row < end;
      ChannelSums sums;
      float q[16];
#pragma unroll
      for (int i = 0; i < 16; ++i) q[i] = works ? exp_q[(row + i) * stride + c] : 0.0f;
      if ((part + 1) * Tile::kOwners >= channels) {
        __syncthreads();
        meanwhile();
      }
#pragma unroll 1
      for (int turn = 0; turn < Tile::kGroups; ++turn) {
        const int begin = 16 * ((turn + group) % Tile::kGroups);
        if (works && range != AdditiveRange::any) {
          channel_sums<Tile>(range, q, exp_k + c, stride, begin, ds + row, dk + c, sums);
        } else if (works) {
          definition_sums(tile, row, begin, c, sums);
        }
        if (Tile::kGroups > 1) __syncthreads();
      }
      dw[part] += sums.dw;
      if (!works || launch.args.dq.data == nullptr) continue;
      const auto& dq = launch.args.dq;
      const float factor = -2.0f * m[c];
      float* to = dq.at(b, h, first + row, c);
#pragma unroll
      for (int x = 0; x < 16; ++x, to += dq.strides[2])
        if (first + row + x < end) atomicAdd(to, factor * sums.dq[x]);
    }
  }

  /// The same with r by the definition; a pair without a gradient adds none, whatever r is.
  __device__ __forceinline__ void definition_sums(const AdditiveQueryTile& tile, int row,
                                                  int begin, int c, ChannelSums& sums) {
    const auto [h, first, end] = tile;
    const AdditiveRows<const float> q(launch.args.q, b, h);
    const AdditiveRows<const float> k(launch.args.k, b, kv_head);
#pragma unroll 1
    for (int j = begin; j < begin + 16 && first_key + j < key_end; ++j) {
      const float y = *k.at(first_key + j, c);
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const float up = ds[j * Tile::kPairStride + row + i];
        if (up == 0.0f || first + row + i >= end) continue;
        const float r = additive_ratio(*q.at(first + row + i, c), y);
        const float down = up * (r - r * r);
        sums.dq[i] += down;
        sums.dw += up * r;
        dk[j * stride + c] += down;
      }
    }
  }

  /// dv += weights d_out: a warp has 16 channels of all keys.
  __device__ void value_grads() {
    using Unit = Mma<float>;
    const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll 1
    for (int c = 16 * warp; c < values; c += 16 * Tile::kWarps) {
      Block16x8 sums[Tile::kGroups][2] = {};
#pragma unroll
      for (int i = 0; i < Tile::kRows; i += Unit::kDepth) {
        const Unit::B up = Unit::load_b_transposed(d_out, c, i, value_stride);
#pragma unroll
        for (int j = 0; j < Tile::kGroups; ++j)
          Unit::multiply(sums[j], Unit::load_a<Tile::kPairStride>(weights, 16 * j, i), up);
      }
#pragma unroll
      for (int x = 0; x < 2 * Tile::kGroups; ++x)
        Unit::add_sums(dv, x / 2 * 16, c + x % 2 * 8, sums[x / 2][x % 2], value_stride);
    }
  }

  /// dk = 4 w (what was gathered), dv, and this block's share of dw.
  __device__ void finish(const float (&dw)[kParts]) {
    write(launch.args.dk, dk, stride, channels, true);
    write(launch.args.dv, dv, value_stride, values, false);
    const DeviceTableGrad& grad = launch.d_weights;
    if (grad.data == nullptr) return;
    ds_sum = warp_sum(ds_sum);
    __syncthreads();
    if (threadIdx.x % 32 == 0) stat[threadIdx.x / 32] = ds_sum;
    __syncthreads();
    float all = 0.0f;
    for (int w = 0; w < Tile::kThreads / 32; ++w) all += stat[w];
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      // All groups have a share of each channel; the sum of ds belongs to the first.
      const int c = part * Tile::kOwners + static_cast<int>(threadIdx.x) % Tile::kOwners;
      if (c >= channels) break;
      atomicAdd(grad.data + kv_head * grad.strides[1] + c * grad.strides[3],
                (threadIdx.x < Tile::kOwners ? all : 0.0f) - 2.0f * dw[part]);
    }
  }

  __device__ void write(const View<float, 4>& to, const float* from, int from_stride, int count,
                        bool weighted) const {
    if (to.data == nullptr) return;
    for (int j = 0; first_key + j < key_end; ++j)
      for (int c = static_cast<int>(threadIdx.x); c < count; c += Tile::kThreads) {
        const float x = from[j * from_stride + c] * (weighted ? -2.0f * m[c] : 1.0f);
        float* place = to.at(b, kv_head, first_key + j, c);
        if (launch.splits > 1) {
          atomicAdd(place, x);
        } else {
          *place = x;
        }
      }
  }
};

template <class Tile, class St>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    additive_backward_kernel(const __grid_constant__ AdditiveBackwardLaunch launch,
                             const __grid_constant__ St stages) {
  extern __shared__ float4 shared[];
  AdditiveBackward<Tile, St> block(launch, stages, reinterpret_cast<float*>(shared));
  block.begin();
  float dw[AdditiveBackward<Tile, St>::kParts] = {};
  const int tiles = (block.queries + Tile::kRows - 1) / Tile::kRows;
  const int count = launch.group * tiles;  // of all heads that share the keys
  const auto tile_at = [&](int x) {
    const int first = x % tiles * Tile::kRows;
    return AdditiveQueryTile{block.kv_head * launch.group + x / tiles, first,
                             min(first + Tile::kRows, block.queries)};
  };
  const auto cover_of = [&](const AdditiveQueryTile& tile) {
    return stages.mask.cover(
        {block.b, tile.h, {tile.first, tile.end}, {block.first_key, block.key_end}});
  };
  const auto next = [&](int x) {
    do x += launch.splits;
    while (x < count && cover_of(tile_at(x)) == Cover::none);
    return x;
  };
  const auto ask = [&](int x) {
    if (x < count) block.ask_queries(tile_at(x));
  };
  int x = next(static_cast<int>(blockIdx.y) - launch.splits);
  ask(x);
#pragma unroll 1
  while (x < count) {
    const AdditiveQueryTile tile = tile_at(x);
    const AdditiveRange range = block.take_queries(tile);
    block.pairs(range, cover_of(tile), tile);
    block.value_grads();
    x = next(x);
    block.channel_grads(range, tile, dw, [&] { ask(x); });
  }
  __syncthreads();
  block.finish(dw);
}

}  // namespace attn::gpu
