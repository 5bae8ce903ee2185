/// Which kernels for Hopper are built; attn/kernels/route.hpp says which attentions run on
/// them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/kernels/gpu/limits.hpp"

/// Whether sm_90a is among the architectures of the build: those kernels exist for no other.
#ifndef ATTN_GPU_HOPPER
#  define ATTN_GPU_HOPPER 0
#endif

namespace attn::gpu::hopper {

/// Functors that are known when the kernel is compiled, no factors of weights.
template <class T, class St>
inline constexpr bool kBuilt =
    ATTN_GPU_HOPPER != 0 && sizeof(T) == 2 && (kHopperFloat16 || std::is_same_v<T, BFloat16>) &&
    !St::kRolled && !St::kHasFactor;
template <class T, int kDim, class St>
inline constexpr bool kForwardBuilt =
    kBuilt<T, St> && (kDim == 128 || (kDim == 64 && kHopperForwardAt64));
template <class T, int kDim, class St>
inline constexpr bool kBackwardBuilt =
    kBuilt<T, St> && (kDim == 128 || (kDim == 64 && kHopperBackwardAt64));

}  // namespace attn::gpu::hopper
