/// Tensors as the TMA sees them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "kernels/gpu/hopper/wgmma.cuh"

namespace attn::gpu::hopper {

/// The driver's function that encodes a map; null where the driver knows none.
inline auto map_encoder() {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  static const Encode encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
    const cudaError_t status = cudaGetDriverEntryPointByVersion(
        "cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
#else
    const cudaError_t status =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
    if (status != cudaSuccess || found != cudaDriverEntryPointSuccess) function = nullptr;
    return reinterpret_cast<Encode>(function);
  }();
  return encode;
}

/// A map whose boxes are `rows` positions by kWidth channels of one head, swizzled; what lies
/// outside of the tensor is read as 0.
template <class T>
CUtensorMap tensor_map(const View<const T, 4>& view, int rows) {
  cuuint64_t sizes[4];
  cuuint64_t steps[3];
  for (std::size_t axis = 0; axis < 4; ++axis)
    sizes[axis] = static_cast<cuuint64_t>(view.shape[3 - axis]);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    // Nobody steps along an axis of one: any step that the driver takes will do.
    const bool alone = view.shape[2 - axis] == 1;
    steps[axis] = alone ? (sizes[0] * sizeof(T) + 15) / 16 * 16
                        : static_cast<cuuint64_t>(view.strides[2 - axis]) * sizeof(T);
  }
  const cuuint32_t box[4] = {kWidth, static_cast<cuuint32_t>(rows), 1, 1};
  const cuuint32_t each[4] = {1, 1, 1, 1};
  CUtensorMap map;
  const CUresult status =
      map_encoder()(&map,
                    std::is_same_v<T, BFloat16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                    4, const_cast<T*>(view.data), sizes, steps, box, each,
                    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                    CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    fail("attn::gpu: the driver refuses to map a tensor: error ", static_cast<int>(status));
  return map;
}

}  // namespace attn::gpu::hopper
