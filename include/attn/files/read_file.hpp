/// Reading whole files with a bound on what is allocated.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::files {

/// What was read: a block of bytes that starts on a cache line, aligned for any element type
/// and for SIMD. Moves keep its address; it is never copied.
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

/// A regular file, open for reading. Anything else (folder, pipe, device) is a FileError, so
/// that opening never blocks and the size is a real one. Nothing is mapped: a file that
/// another process shortens is an error here and not a SIGBUS.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The size when it was opened.
  std::uint64_t size() const { return size_; }

  /// Fills `out` from `offset`; a file that ends before that is a FileError.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  std::string where_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// A buffer of `size` bytes; when memory is short, a FileError that names `where`.
Bytes allocate(std::uint64_t size, const std::string& where);

/// The whole file; one larger than `max_bytes` is a FileError before anything is allocated.
Bytes read_bytes(const std::filesystem::path& path, std::uint64_t max_bytes);
std::string read_text(const std::filesystem::path& path, std::uint64_t max_bytes);

}  // namespace attn::files
