/// CudaError: what a failed call of the CUDA runtime throws. Compiles without CUDA.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <stdexcept>

#include "attn/core/error.hpp"

namespace attn::gpu {

/// A call of the CUDA runtime failed; the message names the call and CUDA's reason.
class CudaError : public Error {
 public:
  using Error::Error;
};

}  // namespace attn::gpu

/// Calls the CUDA runtime, for example ATTN_CUDA_CALL(cudaMalloc(&p, bytes)), and throws
/// CudaError unless it succeeds. After a launch: ATTN_CUDA_CALL(cudaGetLastError()).
#define ATTN_CUDA_CALL(expression)                                                \
  do {                                                                            \
    const cudaError_t attn_cuda_status = (expression);                            \
    if (attn_cuda_status != cudaSuccess)                                          \
      ::attn::fail<::attn::gpu::CudaError>("attn::gpu: ", #expression, ": ",      \
                                           cudaGetErrorString(attn_cuda_status)); \
  } while (false)
