/// Writing files so that a reader, a crash or a full disk never sees half of one.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::files {

/// A file that appears under its name only when complete: it is written aside in the same
/// folder, synced, and renamed by `commit()`. Without a commit (an exception, a full disk) the
/// file that was there before stays as it was and what was written aside is removed.
///
/// A symbolic link is followed, so its target is replaced; permissions of a replaced file are
/// kept. Folders, pipes and devices are refused.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends. Nothing may be written after a commit.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

  void commit();

 private:
  void open_aside();
  void close_descriptor();
  [[noreturn]] void fail_with(int error, std::string_view step);

  std::filesystem::path target_;
  std::filesystem::path aside_;
  int descriptor_ = -1;
};

/// The whole content in one call.
void atomic_write(const std::filesystem::path& path, std::span<const std::byte> bytes);
void atomic_write(const std::filesystem::path& path, std::string_view text);

}  // namespace attn::files
