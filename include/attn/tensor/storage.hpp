/// Storage: memory that tensors share, from an allocator that keeps what is given back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn {

/// Where a tensor lives. Ops take the folder of their device: src/tensor/cpu, src/tensor/gpu.
enum class Device { cpu, gpu };

constexpr std::string_view name_of(Device device) {
  return device == Device::cpu ? "cpu" : "gpu";
}

/// Bytes of one device, shared by views. The version counts writes, so that the tape can tell
/// whether what it saved is still what it was.
class Storage {
 public:
  /// Not initialised, aligned to 64 bytes. Throws Unsupported for a device that this build
  /// lacks, and gpu::CudaError where there is no GPU.
  static std::shared_ptr<Storage> allocate(std::size_t bytes, Device device = Device::cpu);
  /// Memory of somebody else; `release` is called once, when nobody needs it any more.
  static std::shared_ptr<Storage> adopt(void* data, std::size_t bytes,
                                        std::function<void()> release);

  Storage(void* data, std::size_t bytes, Device device, std::function<void()> release)
      : data_(data), bytes_(bytes), device_(device), release_(std::move(release)) {}
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  std::uint64_t version() const { return version_; }
  void wrote() { ++version_; }

 private:
  void* data_;
  std::size_t bytes_;
  Device device_;
  std::uint64_t version_ = 0;
  std::function<void()> release_;  ///< empty: the memory is the allocator's
};

/// What the allocator of the CPU holds.
struct MemoryUse {
  std::size_t live = 0;    ///< bytes in use by tensors
  std::size_t peak = 0;    ///< the most that were in use since reset_peak()
  std::size_t cached = 0;  ///< bytes given back and kept for the next tensor
};
MemoryUse memory_use();
void reset_peak_memory();
/// Returns what is cached to the system.
void release_cached_memory();

}  // namespace attn
