// SPDX-License-Identifier: Apache-2.0

#include "attn/files/atomic_write.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"

namespace attn::files {
namespace {

constexpr std::string_view kWhere = "attn::files::write: ";

/// Renaming would replace the link itself, so the file is written beside what it points to.
std::filesystem::path follow_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as Linux
  const std::filesystem::path asked = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code error;
    if (!std::filesystem::is_symlink(path, error)) return path;
    const auto next = std::filesystem::read_symlink(path, error);
    if (error) fail<FileError>(kWhere, path_text(path), ": ", error.message());
    path = path.parent_path() / next;
  }
  fail<FileError>(kWhere, path_text(asked), " goes through more than ", kMostLinks, " links");
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path) {
  if (path.native().find('\0') != std::string::npos)
    fail<FileError>(kWhere, path_text(path), ": a path cannot hold a zero byte");
  target_ = follow_links(path);
  if (!target_.has_filename()) fail<FileError>(kWhere, path_text(path), " names no file");
  struct stat old = {};
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode))
    fail<FileError>(kWhere, path_text(path),
                    " is a folder, pipe or device; accepted: a regular file or a new name");
  open_aside();
  if (exists && ::fchmod(descriptor_, old.st_mode & 07777) != 0)
    fail_with(errno, "cannot take over the permissions of");
}

AtomicFile::~AtomicFile() {
  close_descriptor();
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

void AtomicFile::open_aside() {
  // Of its own length, because the target's name may already have the longest one allowed.
  static std::atomic<std::uint64_t> counter{0};
  constexpr int kMostTries = 1000;  // killed runs may have left files under the same names
  int error = 0;
  for (int i = 0; i < kMostTries; ++i) {
    auto aside = folder_of(target_) / (".attn-" + std::to_string(::getpid()) + "-" +
                                       std::to_string(counter.fetch_add(1)) + ".tmp");
    descriptor_ = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) {
      aside_ = std::move(aside);
      return;
    }
    error = errno;
    if (error != EEXIST && error != EINTR) break;
  }
  fail_with(error, "cannot create a file in the folder of");
}

void AtomicFile::close_descriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void AtomicFile::fail_with(int error, std::string_view step) {
  close_descriptor();
  if (!aside_.empty()) ::unlink(aside_.c_str());
  aside_.clear();
  fail<FileError>(kWhere, step, ' ', path_text(target_), ": ",
                  std::generic_category().message(error),
                  "; what was there before is unchanged");
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // Linux stops at 2^31 - 4096
  if (descriptor_ < 0) fail<FileError>(kWhere, path_text(target_), " is already closed");
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kMostAtOnce));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail_with(put < 0 ? errno : ENOSPC, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void AtomicFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text.data(), text.size())));
}

void AtomicFile::commit() {
  if (descriptor_ < 0) fail<FileError>(kWhere, path_text(target_), " is already closed");
  // Before the rename, or a crash could leave the new name with none of the new content.
  if (::fsync(descriptor_) != 0) fail_with(errno, "cannot sync");
  // Network file systems report a full disk only here.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_with(errno, "cannot finish");
  if (std::rename(aside_.c_str(), target_.c_str()) != 0) fail_with(errno, "cannot replace");
  aside_.clear();
  // Makes the rename itself survive a crash. Some file systems cannot sync a folder, and
  // either file is whole, so a failure here is not one of the write.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

void atomic_write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void atomic_write(const std::filesystem::path& path, std::string_view text) {
  atomic_write(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace attn::files
