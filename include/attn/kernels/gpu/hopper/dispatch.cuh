/// Which attentions run on the kernels for Hopper: the one place that says so. Everything else
/// runs on the portable ones.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_runtime.h>

#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "attn/kernels/gpu/hopper/tensor_map.cuh"

/// Whether sm_90a is among the architectures of the build: those kernels exist for no other.
#ifndef ATTN_GPU_HOPPER
#  define ATTN_GPU_HOPPER 0
#endif

namespace attn::gpu::hopper {

/// 16-bit types at 64 and 128 channels, functors that are known when the kernel is compiled, no
/// factors of weights.
template <class T, int kDim, class St>
inline constexpr bool kBuilt = ATTN_GPU_HOPPER != 0 && sizeof(T) == 2 &&
                               (kDim == 64 || kDim == 128) && !St::kRolled && !St::kHasFactor;

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
