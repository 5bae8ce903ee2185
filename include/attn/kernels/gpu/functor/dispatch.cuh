/// From run time to compile time: head sizes, launches, and what the kernels of the GPU do not
/// take.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "attn/core/error.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "attn/kernels/gpu/limits.hpp"

namespace attn::gpu {

/// The built head size for these channels; throws Unsupported beyond the last.
inline int padded_head_size(const char* where, std::int64_t channels,
                            std::int64_t value_channels) {
  const std::int64_t wanted = channels > value_channels ? channels : value_channels;
  for (const int size : kHeadSizes)
    if (wanted <= size) return size;
  fail<Unsupported>(where, ": ", channels, " channels and ", value_channels,
                    " value channels; the GPU's kernels are built up to 256");
}

/// run(std::integral_constant<int, size>{}) for the padded head size.
template <class F>
void for_head_size(const char* where, std::int64_t channels, std::int64_t value_channels,
                   const F& run) {
  const int size = padded_head_size(where, channels, value_channels);
  const auto choose = [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    ((size == kHeadSizes[kIndex] ? run(std::integral_constant<int, kHeadSizes[kIndex]>{})
                                 : void()),
     ...);
  };
  choose(std::make_index_sequence<std::size(kHeadSizes)>{});
}

/// Queues a kernel with `bytes` of shared memory; none for no blocks.
template <class... Parameters, class... Arguments>
void launch(const char* where, void (*kernel)(Parameters...), std::int64_t blocks, int threads,
            std::size_t bytes, cudaStream_t stream, const Arguments&... arguments) {
  if (blocks == 0) return;
  if (blocks > std::numeric_limits<std::int32_t>::max())
    fail<Unsupported>(where, ": ", blocks, " blocks; a launch takes at most 2^31 - 1");
  if (bytes > 0)
    ATTN_CUDA_CALL(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(bytes)));
  kernel<<<static_cast<unsigned>(blocks), threads, bytes, stream>>>(arguments...);
  ATTN_CUDA_CALL(cudaGetLastError());
}

/// Zeros into a view of any strides.
template <class T>
__global__ void clear_kernel(const __grid_constant__ View<T, 4> view, std::int64_t count) {
  for (std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; x < count;
       x += std::int64_t{gridDim.x} * blockDim.x) {
    const std::int64_t c = x % view.shape[3];
    const std::int64_t i = x / view.shape[3] % view.shape[2];
    const std::int64_t h = x / view.shape[3] / view.shape[2] % view.shape[1];
    const std::int64_t b = x / view.shape[3] / view.shape[2] / view.shape[1];
    *view.at(b, h, i, c) = T(0);
  }
}
template <class T>
void clear(const View<T, 4>& view, cudaStream_t stream) {
  if (view.data == nullptr) return;
  const std::int64_t blocks = std::min<std::int64_t>((view.size() + 255) / 256, 2048);
  launch("attn::gpu", clear_kernel<T>, blocks, 256, 0, stream, view, view.size());
}

template <class Args>
void check_not_packed(const char* where, const Args& args) {
  if (args.packing.q != nullptr || args.packing.k != nullptr)
    fail<Unsupported>(where,
                      ": packed sequences are not built for the GPU; "
                      "mask::Documents serves them in one sequence");
}

template <class T>
void check_supported(const ForwardArgs<T>& args) {
  constexpr const char* kWhere = "attn::gpu::forward";
  check_not_packed(kWhere, args);
  if (args.paging.table != nullptr)
    fail<Unsupported>(kWhere, ": paged keys are not built for the GPU's forward");
  if (args.similarities.data != nullptr)
    fail<Unsupported>(kWhere, ": the GPU's kernels do not keep similarities");
}

template <class T>
void check_supported(const BackwardArgs<T>& args) {
  constexpr const char* kWhere = "attn::gpu::backward";
  check_not_packed(kWhere, args);
  if (args.d_weights.given())
    fail<Unsupported>(kWhere, ": gradients of the weights are not built for the GPU");
}

}  // namespace attn::gpu
