/// Reading whole files with a bound on what is allocated.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "attn/files/bytes.hpp"

namespace attn::files {

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
