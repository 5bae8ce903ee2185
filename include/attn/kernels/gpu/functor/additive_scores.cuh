/// Additive scores of a tile: what forward and backward share. score::Additive is the
/// definition; here the same number is made from exponentials that are taken once a row.
///
/// tanh(q + k) = 1 - 2 r with r = 1 / (1 + e^2q e^2k). A pair of rows then costs products and
/// a reciprocal a channel, and one reciprocal serves four channels. A tile whose numbers are
/// too large for that says so and takes another path.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/math.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/gpu/functor/mma.cuh"

namespace attn::gpu {

/// How large the numbers of a tile are, and what may be done with them.
enum class AdditiveRange {
  small,   ///< |x| <= kSmall: the product of four (1 + e^2(q+k)) is a float
  medium,  ///< |x| <= kMedium: the product of two is
  large,   ///< |k| <= kLarge: one is, or infinite where r is 0 in fp32
  any,     ///< beyond, or NaN: tanh is taken of the sums
};
inline constexpr float kSmall = 5.2f;    // (1 + e^20.8)^4 < 2^121
inline constexpr float kMedium = 10.5f;  // (1 + e^42)^2 < 2^122
inline constexpr float kLarge = 33.0f;
/// Queries are bounded to this before the exponential, which changes nothing: with |k| <=
/// kLarge the sum is past 10, where tanh is 1 in fp32. e^86 and e^-86 are normal floats.
inline constexpr float kQueryBound = 43.0f;

__device__ __forceinline__ AdditiveRange range_of(float x) {
  const float size = fabsf(x);
  if (!(size <= kLarge)) return AdditiveRange::any;
  return size > kMedium  ? AdditiveRange::large
         : size > kSmall ? AdditiveRange::medium
                         : AdditiveRange::small;
}
/// A query past kLarge is bounded; only NaN needs the other path.
__device__ __forceinline__ AdditiveRange query_range_of(float x) {
  if (x != x) return AdditiveRange::any;
  return fabsf(x) > kMedium ? AdditiveRange::large : range_of(x);
}
__device__ __forceinline__ AdditiveRange wider(AdditiveRange a, AdditiveRange b) {
  return a < b ? b : a;
}
/// The largest size of these numbers, or NaN if one is.
__device__ __forceinline__ float top_size(float top, const float4& x) {
  const auto larger = [](float a, float b) {
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
  };
  return larger(larger(larger(top, fabsf(x.x)), fabsf(x.y)), larger(fabsf(x.z), fabsf(x.w)));
}
/// The largest range in the block; a barrier.
__device__ __forceinline__ AdditiveRange block_range(AdditiveRange range) {
  if (!__syncthreads_or(range > AdditiveRange::small)) return AdditiveRange::small;
  if (!__syncthreads_or(range > AdditiveRange::medium)) return AdditiveRange::medium;
  return __syncthreads_or(range > AdditiveRange::large) ? AdditiveRange::any
                                                        : AdditiveRange::large;
}

/// e^2x for |x| <= kQueryBound, as exact as the GPU's 2^x near 0: whatever the compiler was
/// told about fast mathematics, because a query and a key that nearly cancel show every error.
__device__ __forceinline__ float exp_twice(float x) {
  constexpr float kWhole = 0x1.8p23f;  // added to a number, it leaves the nearest integer
  const float shifted = fmaf(x, 2.885390081777927f, kWhole);
  const float n = shifted - kWhole;
  const float rest = fmaf(n, -1.42860677e-6f, fmaf(n, -0.693145752f, 2.0f * x));
  const float power = __int_as_float((__float_as_int(shifted) << 23) + (127 << 23));
  return power * attn_exp2(rest * 1.4426950408889634f);
}
__device__ __forceinline__ float exp_twice_bounded(float q) {
  return exp_twice(fminf(fmaxf(q, -kQueryBound), kQueryBound));
}

/// 1 / x within one unit in the last place; 0 below 2^-126.
__device__ __forceinline__ float quick_reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// 1 + e^2(q+k), bounded where four of them could overflow: 1 / 2^30 is as good as 0.
template <bool kBounded>
__device__ __forceinline__ float additive_divisor(float exp_q, float exp_k) {
  const float d = fmaf(exp_q, exp_k, 1.0f);
  return kBounded ? fminf(d, 0x1p30f) : d;
}

/// sums[r][c] += sum over channels of m / d for the rows of a thread, m = -2 w: four channels
/// of each kStep. Rows of a thread lie `q_step` and `k_step` floats apart; channels is a
/// multiple of kStep, all in shared memory and aligned to 16 bytes.
template <bool kBounded, int kStep = 4, int kRows, int kCols>
__device__ __forceinline__ void additive_sums(const float* exp_q, int q_step,
                                              const float* exp_k, int k_step, const float* m,
                                              int channels, float (&sums)[kRows][kCols]) {
#pragma unroll 2
  for (int u = 0; u < channels; u += kStep) {
    const float4 w = *reinterpret_cast<const float4*>(m + u);
    float4 q[kRows];
    float4 k[kCols];
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      q[r] = *reinterpret_cast<const float4*>(exp_q + r * q_step + u);
#pragma unroll
    for (int c = 0; c < kCols; ++c)
      k[c] = *reinterpret_cast<const float4*>(exp_k + c * k_step + u);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int c = 0; c < kCols; ++c) {
        const float d1 = additive_divisor<kBounded>(q[r].x, k[c].x);
        const float d2 = additive_divisor<kBounded>(q[r].y, k[c].y);
        const float d3 = additive_divisor<kBounded>(q[r].z, k[c].z);
        const float d4 = additive_divisor<kBounded>(q[r].w, k[c].w);
        // w1 / d1 + w2 / d2 = (w1 d2 + w2 d1) / (d1 d2), twice over.
        const float n12 = fmaf(w.x, d2, w.y * d1);
        const float n34 = fmaf(w.z, d4, w.w * d3);
        const float d12 = d1 * d2;
        const float d34 = d3 * d4;
        const float n = fmaf(n12, d34, n34 * d12);
        sums[r][c] = fmaf(n, quick_reciprocal(d12 * d34), sums[r][c]);
      }
    }
  }
}

/// r by the definition, for numbers that have no exponentials.
__device__ __forceinline__ float additive_ratio(float q, float k) {
  return 0.5f - 0.5f * tanh(q + k);
}

/// Rows of floats in global memory: row j, channel c is base[j * row + c * channel].
template <class T>
struct AdditiveRows {
  T* base;
  std::int64_t row, channel;
  bool vectors;  ///< rows are made of aligned 16-byte pieces

  __device__ AdditiveRows(const View<T, 4>& view, int b, int h)
      : base(view.at(b, h)),
        row(view.strides[2]),
        channel(view.strides[3]),
        vectors(channel == 1 && row % 4 == 0 && view.shape[3] % 4 == 0 &&
                reinterpret_cast<std::uintptr_t>(base) % 16 == 0) {}

  __device__ __forceinline__ T* at(int j, int c) const { return base + j * row + c * channel; }

  /// Channels [c, c + 4) of row j; zeros past `channels`.
  __device__ __forceinline__ float4 read4(int j, int c, int channels) const {
    if (vectors && c + 4 <= channels)
      return *reinterpret_cast<const float4*>(base + j * row + c);
    float4 result{0.0f, 0.0f, 0.0f, 0.0f};
    if (c < channels) result.x = *at(j, c);
    if (c + 1 < channels) result.y = *at(j, c + 1);
    if (c + 2 < channels) result.z = *at(j, c + 2);
    if (c + 3 < channels) result.w = *at(j, c + 3);
    return result;
  }
};

/// visit(row, c, channels [c, c + 4) of row first + row) for kRows rows and `depth` channels, a
/// multiple of 4: a warp a row. Rows from `end` on and channels that do not exist are zeros.
template <int kRows, int kThreads, class Visit>
__device__ __forceinline__ void visit_rows(const AdditiveRows<const float>& from, int first,
                                           int end, int channels, int depth,
                                           const Visit& visit) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 4
  for (int row = static_cast<int>(threadIdx.x) / 32; row < kRows; row += kThreads / 32) {
    const bool exists = first + row < end;
    const float* base = from.base + (first + row) * from.row;
    if (from.vectors) {
#pragma unroll 2
      for (int c = lane * 4; c < depth; c += 128) {
        float4 numbers{0.0f, 0.0f, 0.0f, 0.0f};
        if (exists && c < channels) numbers = *reinterpret_cast<const float4*>(base + c);
        visit(row, c, numbers);
      }
    } else {
#pragma unroll 1
      for (int c = lane * 4; c < depth; c += 128)
        visit(row, c,
              exists ? from.read4(first + row, c, channels) : float4{0.0f, 0.0f, 0.0f, 0.0f});
    }
  }
}

__device__ __forceinline__ void store4(float* to, const float4& from) {
  *reinterpret_cast<float4*>(to) = from;
}
template <class F>
__device__ __forceinline__ float4 map4(const float4& x, const F& f) {
  return {f(x.x), f(x.y), f(x.z), f(x.w)};
}

/// m = -2 w of `padded` channels into shared memory, zeros past `channels`; returns the sum of
/// w. All threads take part and must meet a barrier before m is read.
template <int kThreads>
__device__ float read_weights(const float* w, std::int64_t stride, int channels, int padded,
                              float* m) {
  __shared__ float sums[kThreads / 32];
  float sum = 0.0f;
  for (int c = static_cast<int>(threadIdx.x); c < padded; c += kThreads) {
    const float x = c < channels ? w[c * stride] : 0.0f;
    m[c] = -2.0f * x;
    sum += x;
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0.0f;
#pragma unroll
  for (int i = 0; i < kThreads / 32; ++i) total += sums[i];
  return total;
}

}  // namespace attn::gpu
