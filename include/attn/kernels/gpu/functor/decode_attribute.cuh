/// What the current device says of itself.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_runtime.h>

#include "attn/kernels/gpu/error.hpp"

namespace attn::gpu {

inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  ATTN_CUDA_CALL(cudaGetDevice(&device));
  ATTN_CUDA_CALL(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

}  // namespace attn::gpu
