/// What a mask hides may be NaN or infinite. The matrix units multiply it by 0, which is NaN;
/// here is what puts that right, for the few blocks that it happens to.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <type_traits>

#include "attn/core/concepts.hpp"
#include "attn/kernels/gpu/functor/copy.cuh"
#include "attn/kernels/gpu/functor/mma.cuh"
#include "attn/kernels/gpu/functor/stages.cuh"
#include "attn/mask/none.hpp"

namespace attn::gpu {

/// Whether some pairs of a tile may not count: by a mask, or by a modifier chosen at run time,
/// which may make a score -inf.
template <class St>
inline constexpr bool kMayHide =
    !std::is_same_v<std::remove_cvref_t<decltype(St::mask)>, mask::None> || St::kRolled;

/// Numbers of a tile that are not finite become 0. Whoever counts them knows it from elsewhere:
/// the stat of a row that sees such a key is not finite either.
template <int kRows, int kChannels, int kThreads, class T>
__device__ __forceinline__ void clear_non_finite(T* tile) {
  constexpr int kStride = kChannels + Mma<T>::kPad;
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kChannels; i += kThreads) {
    T& x = tile[i / kChannels * kStride + i % kChannels];
    if (!isfinite(to_float(x))) x = from_float<T>(0.0f);
  }
}

/// The same for packed 16-bit numbers in any order.
template <class T, int kThreads, class Memory>
__device__ __forceinline__ void clear_non_finite_words(Memory& memory) {
  constexpr std::uint32_t kAllOnes = std::is_same_v<T, BFloat16> ? 0x7f80u : 0x7c00u;
  auto* const words = reinterpret_cast<uint4*>(&memory);
  const auto finite = [](std::uint32_t word) {
    const bool low = (word & kAllOnes) != kAllOnes;
    const bool high = (word >> 16 & kAllOnes) != kAllOnes;
    return (low ? word & 0xffffu : 0u) | (high ? word & 0xffff0000u : 0u);
  };
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < static_cast<int>(sizeof(Memory) / 16);
       i += kThreads) {
    const uint4 x = words[i];
    words[i] = {finite(x.x), finite(x.y), finite(x.z), finite(x.w)};
  }
}

/// One row, pooled by a warp in plain loops: what has no weight is not read.
template <class T, class St>
struct PlainRow {
  static constexpr int kMost = 256 / 32;  ///< channels of a lane

  DeviceRows<const T> q, k, v;
  DeviceRows<T> out;
  int keys;

  /// Pools row at.q again if something in it is not finite and its stat is.
  __device__ __noinline__ void pool_again(const St& stages, Site<float> at, float stat) const {
    if (!isfinite(stat) || !spoilt(at.q)) return;
    const DeviceParams p{stages.score_tables.data, at.batch, at.head, at.q};
    float sums[kMost] = {};
    for (at.k = 0; at.k < keys; ++at.k) {
      if (!static_cast<bool>(stages.mask.keep(at))) continue;
      float product = 0.0f;
      for (int c = lane_id(); c < q.channels; c += 32)
        product += to_float(q.at(at.q)[c * q.channel]) * to_float(k.at(at.k)[c * k.channel]);
      const float score = call_forward(stages.score, stages.scale * warp_sum(product), at, p);
      if (score == -kInfinity) continue;
      float weight = stages.normaliser.final_weight(score, stat, at);
      if constexpr (St::kHasFactor)
        weight *= call_factor(stages.factor, at,
                              DeviceParams{stages.factor_tables.data, at.batch, at.head, at.q});
      if (weight == 0.0f) continue;
#pragma unroll
      for (int i = 0; i < kMost; ++i) {
        const int c = lane_id() + 32 * i;
        if (c < v.channels) sums[i] += weight * to_float(v.at(at.k)[c * v.channel]);
      }
    }
#pragma unroll
    for (int i = 0; i < kMost; ++i) {
      const int c = lane_id() + 32 * i;
      if (c < out.channels) out.at(at.q)[c * out.channel] = from_float<T>(sums[i]);
    }
  }

 private:
  __device__ bool spoilt(int row) const {
    bool found = false;
    for (int c = lane_id(); c < out.channels; c += 32)
      found = found || !isfinite(to_float(out.at(row)[c * out.channel]));
    return __any_sync(0xffffffffu, found) != 0;
  }
};

}  // namespace attn::gpu
