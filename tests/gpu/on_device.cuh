/// Copies of test data on the device.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/view.hpp"
#include "attn/kernels/gpu/error.hpp"

namespace attn::test {

/// A list of numbers on the device.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(std::size_t count) : count_(count) {
    // One element more: an empty list has an address too.
    ATTN_CUDA_CALL(cudaMalloc(&data_, (count + 1) * sizeof(T)));
  }
  explicit OnDevice(const std::vector<T>& from) : OnDevice(from.data(), from.size()) {}
  OnDevice(const T* from, std::size_t count) : OnDevice(count) {
    ATTN_CUDA_CALL(cudaMemcpy(data_, from, count * sizeof(T), cudaMemcpyHostToDevice));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { cudaFree(data_); }

  T* get() const { return data_; }
  void read(T* to) const {
    ATTN_CUDA_CALL(cudaMemcpy(to, data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
  }
  std::vector<T> read() const {
    std::vector<T> result(count_);
    read(result.data());
    return result;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

/// The memory under a view of the host, and the same view of the device.
template <class T>
class ViewOnDevice {
 public:
  explicit ViewOnDevice(const View<T, 4>& host)
      : host_(host), low_(reach(host, false)), memory_(host.data + low_, extent(host)) {}

  View<T, 4> view() const { return {memory_.get() - low_, host_.shape, host_.strides}; }
  /// Back to where it came from, gaps included.
  void read() const { memory_.read(host_.data + low_); }

 private:
  /// The lowest or the highest offset of an element.
  static std::int64_t reach(const View<T, 4>& view, bool high) {
    std::int64_t sum = 0;
    for (std::size_t axis = 0; axis < 4; ++axis)
      if (view.shape[axis] > 0 && (view.strides[axis] > 0) == high)
        sum += (view.shape[axis] - 1) * view.strides[axis];
    return sum;
  }
  static std::size_t extent(const View<T, 4>& view) {
    if (view.size() == 0) return 0;
    return static_cast<std::size_t>(reach(view, true) - reach(view, false) + 1);
  }

  View<T, 4> host_;
  std::int64_t low_;
  OnDevice<T> memory_;
};

/// Whether there is a device to test on.
inline bool has_device() {
  int count = 0;
  const bool found = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  cudaGetLastError();
  return found;
}

}  // namespace attn::test
