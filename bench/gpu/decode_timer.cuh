/// Times on the GPU: the median over many calls, each with a cold L2.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <vector>

#include "attn/kernels/gpu/error.hpp"

namespace attn::bench {

/// Memory of the device, filled with small pseudo-random bytes or numbers by the caller.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) {
    ATTN_CUDA_CALL(cudaMalloc(&data_, (count + 1) * sizeof(T)));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

/// Numbers between -1 and 1 that depend on the index alone.
template <class T>
__global__ void fill_kernel(T* to, std::size_t count, unsigned seed) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    unsigned x = static_cast<unsigned>(i) * 2654435761u + seed;
    x = (x ^ (x >> 15)) * 2246822519u;
    x = (x ^ (x >> 13)) * 3266489917u;
    to[i] = T(static_cast<float>(x >> 8) * 0x1p-23f - 1.0f);
  }
}
template <class T>
void fill(const Buffer<T>& buffer, std::size_t count, unsigned seed) {
  fill_kernel<<<1024, 256>>>(buffer.get(), count, seed);
  ATTN_CUDA_CALL(cudaGetLastError());
}

class Timer {
 public:
  Timer() : flush_(kFlush) {
    ATTN_CUDA_CALL(cudaEventCreate(&begin_));
    ATTN_CUDA_CALL(cudaEventCreate(&end_));
  }
  ~Timer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  /// Milliseconds of one call: the median of `count` after a warm-up.
  template <class Run>
  double median(const Run& run, int count = 31) {
    for (int i = 0; i < 3; ++i) run();
    std::vector<float> times(static_cast<std::size_t>(count));
    for (float& time : times) {
      ATTN_CUDA_CALL(cudaMemsetAsync(flush_.get(), 0, kFlush));
      ATTN_CUDA_CALL(cudaEventRecord(begin_));
      run();
      ATTN_CUDA_CALL(cudaEventRecord(end_));
      ATTN_CUDA_CALL(cudaEventSynchronize(end_));
      ATTN_CUDA_CALL(cudaEventElapsedTime(&time, begin_, end_));
    }
    std::sort(times.begin(), times.end());
    return static_cast<double>(times[times.size() / 2]);
  }

 private:
  static constexpr std::size_t kFlush = std::size_t{256} << 20;  // four times the L2
  Buffer<unsigned char> flush_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace attn::bench
