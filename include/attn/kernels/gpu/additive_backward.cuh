/// The backward kernel of additive attention: a tile of keys against some of the queries.
///
/// With r = 1 / (1 + e^2(q+k)): tanh = 1 - 2 r and 1 - tanh^2 = 4 r (1 - r), so
/// dq_c = 4 w_c sum_j ds r (1 - r), dk_c the same over i, dw_c = sum ds - 2 sum ds r.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/concepts.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/additive.hpp"
#include "attn/kernels/gpu/additive_backward_tile.cuh"
#include "attn/kernels/gpu/additive_scores.cuh"
#include "attn/kernels/gpu/decode_stages.cuh"
#include "attn/normalise/softmax.hpp"

namespace attn::gpu {

struct AdditiveBackwardLaunch {
  BackwardArgs<float> args;
  DeviceTable weights;
  DeviceTableGrad d_weights;
  int group = 1;   ///< heads that share a kv head
  int splits = 1;  ///< blocks that share a key tile; their dk and dv are added atomically
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
    auto range = AdditiveRange::small;
    visit_rows<Tile::kRows, Tile::kThreads>(
        AdditiveRows<const float>(launch.args.k, b, kv_head), first_key, key_end, channels,
        stride - 4, [&](int row, int c, const float4& x) {
          range = wider(range, widest(x, range_of));
          store4(exp_k + row * stride + c, map4(x, exp_twice));
        });
    visit_rows<Tile::kRows, Tile::kThreads>(
        AdditiveRows<const float>(launch.args.v, b, kv_head), first_key, key_end, values,
        value_stride - 4,
        [&](int row, int c, const float4& x) { store4(v + row * value_stride + c, x); });
    for (int x = static_cast<int>(threadIdx.x); x < Tile::kRows * stride; x += Tile::kThreads)
      dk[x] = 0.0f;
    for (int x = static_cast<int>(threadIdx.x); x < Tile::kRows * value_stride;
         x += Tile::kThreads)
      dv[x] = 0.0f;
    k_range = block_range(range);
  }

  /// A tile of queries: exponentials, gradients of the output, and two numbers a row.
  __device__ AdditiveRange read_queries(int h, int first, int end) {
    const auto& args = launch.args;
    auto range = k_range;
    visit_rows<Tile::kRows, Tile::kThreads>(
        AdditiveRows<const float>(args.q, b, h), first, end, channels, stride - 4,
        [&](int row, int c, const float4& x) {
          range = wider(range, widest(x, query_range_of));
          store4(exp_q + row * stride + c, map4(x, exp_twice_bounded));
        });
    // A warp has a row's gradients of the output, so it makes delta too.
    const AdditiveRows<const float> out(args.out, b, h);
    const AdditiveRows<const float> up(args.d_out, b, h);
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int row = static_cast<int>(threadIdx.x) / 32; row < Tile::kRows;
         row += Tile::kThreads / 32) {
      const int i = first + row;
      float sum = 0.0f;
#pragma unroll 2
      for (int c = lane * 4; c < value_stride - 4; c += 128) {
        float4 x{};
        float4 y{};
        if (i < end) {
          x = up.read4(i, c, values);
          y = out.read4(i, c, values);
        }
        store4(d_out + row * value_stride + c, x);
        sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
      }
#pragma unroll
      for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
      if (lane != 0 || i >= end) continue;
      if (args.d_stat.data != nullptr) sum -= *args.d_stat.at(b, h, i);
      delta[row] = sum;
      stat[row] = *args.stat.at(b, h, i);
    }
    return block_range(range);
  }

  /// Sums of m r for the thread's pairs.
  __device__ void sums(AdditiveRange range, int h, int first, int end,
                       float (&s)[1][kEach]) const {
    const int tx = static_cast<int>(threadIdx.x) % 16;
    const int ty = static_cast<int>(threadIdx.x) / 16;
    const int depth = (channels + 3) / 4 * 4;
    const float* q_row = exp_q + ty * stride;
    const float* k_row = exp_k + tx * stride;
    if (range == AdditiveRange::small) {
      additive_sums<false>(q_row, 0, k_row, 16 * stride, m, depth, s);
    } else if (range != AdditiveRange::any) {
      additive_sums<true>(q_row, 0, k_row, 16 * stride, m, depth, s);
    } else {
      const AdditiveRows<const float> q(launch.args.q, b, h);
      const AdditiveRows<const float> k(launch.args.k, b, kv_head);
      const int i = first + ty;
#pragma unroll 1
      for (int c = 0; i < end && c < channels; ++c)
#pragma unroll
        for (int x = 0; x < kEach; ++x) {
          const int j = first_key + tx + 16 * x;
          if (j < key_end)
            s[0][x] = fmaf(m[c], additive_ratio(*q.at(i, c), *k.at(j, c)), s[0][x]);
        }
    }
  }

  /// Weights and gradients of scores of the tile into shared memory.
  __device__ void pairs(AdditiveRange range, Cover cover, int h, int first, int end) {
    constexpr normalise::Softmax kSoftmax{};
    const int tx = static_cast<int>(threadIdx.x) % 16;
    const int ty = static_cast<int>(threadIdx.x) / 16;
    float s[1][kEach] = {};
    float dp[1][kEach] = {};
    sums(range, h, first, end, s);
    tile_dots<kEach>(d_out + ty * value_stride, v + tx * value_stride, value_stride,
                     (values + 3) / 4 * 4, dp);
#pragma unroll
    for (int x = 0; x < kEach; ++x) {
      const int j = tx + 16 * x;
      const Site<float> at{b, h, first + ty, first_key + j};
      float weight = 0.0f;
      float grad = 0.0f;
      if (at.q < end && at.k < key_end && (cover == Cover::all || keeps(stages, at))) {
        const float similarity = stages.scale * (total + s[0][x]);
        const float score = modified(stages, similarity, at);
        // A score of -inf is a masked score.
        if (score != -kInfinity) {
          weight = kSoftmax.final_weight(score, stat[ty], at);
          const float slope = kSoftmax.final_slope(score, weight, stat[ty], at);
          grad = stages.scale *
                 modified_back(stages, slope * (dp[0][x] - delta[ty]), similarity, at);
        }
      }
      weights[j * Tile::kPairStride + ty] = weight;
      ds[j * Tile::kPairStride + ty] = grad;
      ds_sum += grad;
    }
    __syncthreads();
  }

  /// Channel by channel: dq goes out, dk and dw are kept. Groups of threads meet different keys
  /// at a time, so that each adds to dk alone.
  __device__ void channel_grads(AdditiveRange range, int h, int first, int end,
                                float (&dw)[kParts]) {
    const int group = static_cast<int>(threadIdx.x) / Tile::kOwners;
    const int row = 16 * group;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if (part * Tile::kOwners >= channels) break;
      const int c = part * Tile::kOwners + static_cast<int>(threadIdx.x) % Tile::kOwners;
      const bool works = c < channels && first + row < end;
      ChannelSums sums;
      float q[16];
#pragma unroll
      for (int i = 0; i < 16; ++i) q[i] = works ? exp_q[(row + i) * stride + c] : 0.0f;
#pragma unroll 1
      for (int turn = 0; turn < Tile::kGroups; ++turn) {
        const int begin = 16 * ((turn + group) % Tile::kGroups);
        if (works && range != AdditiveRange::any) {
          channel_sums<Tile>(range, q, exp_k + c, stride, begin, ds + row, dk + c, sums);
        } else if (works) {
          definition_sums(h, first, end, row, begin, c, sums);
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
  __device__ __forceinline__ void definition_sums(int h, int first, int end, int row, int begin,
                                                  int c, ChannelSums& sums) {
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

  /// dv += weights^T d_out; groups of threads have different keys.
  __device__ void value_grads() {
    const int begin = static_cast<int>(threadIdx.x) / Tile::kOwners * 16;
    for (int c = static_cast<int>(threadIdx.x) % Tile::kOwners; c < values;
         c += Tile::kOwners) {
#pragma unroll 1
      for (int i = 0; i < Tile::kRows; i += 16) {
        float up[16];
#pragma unroll
        for (int x = 0; x < 16; ++x) up[x] = d_out[(i + x) * value_stride + c];
#pragma unroll 2
        for (int j = begin; j < begin + 16; ++j) {
          float sum = 0.0f;
#pragma unroll
          for (int x = 0; x < 16; x += 4) {
            const float4 w =
                *reinterpret_cast<const float4*>(weights + j * Tile::kPairStride + i + x);
            sum = fmaf(w.x, up[x], fmaf(w.y, up[x + 1], sum));
            sum = fmaf(w.z, up[x + 2], fmaf(w.w, up[x + 3], sum));
          }
          dv[j * value_stride + c] += sum;
        }
      }
    }
  }

  /// dk = 4 w (what was gathered), dv, and this block's share of dw.
  __device__ void finish(const float (&dw)[kParts]) {
    write(launch.args.dk, dk, stride, channels, true);
    write(launch.args.dv, dv, value_stride, values, false);
    const DeviceTableGrad& grad = launch.d_weights;
    if (grad.data == nullptr) return;
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
      ds_sum += __shfl_xor_sync(0xffffffffu, ds_sum, offset);
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
#pragma unroll 1
  for (int x = static_cast<int>(blockIdx.y); x < launch.group * tiles; x += launch.splits) {
    const int h = block.kv_head * launch.group + x / tiles;
    const int first = x % tiles * Tile::kRows;
    const int end = min(first + Tile::kRows, block.queries);
    const Cover cover =
        stages.mask.cover({block.b, h, {first, end}, {block.first_key, block.key_end}});
    if (cover == Cover::none) continue;
    const AdditiveRange range = block.read_queries(h, first, end);
    block.pairs(range, cover, h, first, end);
    block.channel_grads(range, h, first, end, dw);
    block.value_grads();
    __syncthreads();
  }
  block.finish(dw);
}

}  // namespace attn::gpu
