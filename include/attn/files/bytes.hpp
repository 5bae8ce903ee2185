/// Owned memory for what was read from a file, aligned for any element type and for SIMD.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::files {

/// A block of bytes that starts on a cache line. Moves keep its address; it is never copied.
class Bytes {
 public:
  static constexpr std::align_val_t kAlignment{64};

  Bytes() = default;

  /// The content is left uninitialised.
  explicit Bytes(std::size_t size)
      : data_(static_cast<std::byte*>(::operator new(size, kAlignment))), size_(size) {}

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::span<std::byte> span() { return {data_.get(), size_}; }
  std::span<const std::byte> span() const { return {data_.get(), size_}; }

 private:
  struct Release {
    void operator()(std::byte* data) const { ::operator delete(data, kAlignment); }
  };

  std::unique_ptr<std::byte, Release> data_;
  std::size_t size_ = 0;
};

}  // namespace attn::files
