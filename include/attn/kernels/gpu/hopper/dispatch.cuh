/// Which attentions run on the kernels for Hopper: the one place that says so. Everything else
/// runs on the portable ones.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_runtime.h>

#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "attn/kernels/gpu/hopper/tensor_map.cuh"
#include "attn/mask/combine.hpp"

/// Whether sm_90a is among the architectures of the build: those kernels exist for no other.
#ifndef ATTN_GPU_HOPPER
#  define ATTN_GPU_HOPPER 0
#endif

namespace attn::gpu::hopper {

/// What is in use beyond bf16 at 128 channels under masks that answer for whole tiles; false
/// sends it to the portable kernels. f16 and backward at 64 channels compile, but have not run.
inline constexpr bool kForwardAt64 = true;
inline constexpr bool kBackwardAt64 = false;
inline constexpr bool kMasksByRow = true;
inline constexpr bool kFloat16 = false;

/// Functors that are known when the kernel is compiled, no factors of weights.
template <class T, class St>
inline constexpr bool kBuilt =
    ATTN_GPU_HOPPER != 0 && sizeof(T) == 2 && (kFloat16 || std::is_same_v<T, BFloat16>) &&
    (kMasksByRow || mask::CheapCover<std::remove_cvref_t<decltype(St::mask)>>) &&
    !St::kRolled && !St::kHasFactor;
template <class T, int kDim, class St>
inline constexpr bool kForwardBuilt =
    kBuilt<T, St> && (kDim == 128 || (kDim == 64 && kForwardAt64));
template <class T, int kDim, class St>
inline constexpr bool kBackwardBuilt =
    kBuilt<T, St> && (kDim == 128 || (kDim == 64 && kBackwardAt64));

/// Whether the current GPU runs code of sm_90a.
inline bool runs_here() {
  int device = 0;
  int major = 0;
  int minor = 0;
  ATTN_CUDA_CALL(cudaGetDevice(&device));
  ATTN_CUDA_CALL(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  ATTN_CUDA_CALL(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return major == 9 && minor == 0 && map_encoder() != nullptr;
}

template <class T>
bool takes(const ForwardArgs<T>& args) {
  return can_map<T>(args.q) && can_map<T>(args.k) && can_map<T>(args.v) && runs_here();
}
template <class T>
bool takes(const BackwardArgs<T>& args) {
  return can_map<T>(args.q) && can_map<T>(args.k) && can_map<T>(args.v) &&
         can_map<T>(args.d_out) && runs_here();
}

}  // namespace attn::gpu::hopper
