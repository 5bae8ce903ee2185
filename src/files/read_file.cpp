// SPDX-License-Identifier: Apache-2.0

#include "attn/files/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <system_error>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"

namespace attn::files {
namespace {

std::string reason(int error) {
  return std::generic_category().message(error);
}

void check_size(const InputFile& file, const std::filesystem::path& path,
                std::uint64_t max_bytes) {
  if (file.size() > max_bytes)
    fail<FileError>("attn::files::read: ", path_text(path), " has ", file.size(),
                    " bytes; at most ", max_bytes, " are accepted");
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path)
    : where_("attn::files::read: " + path_text(path)) {
  if (path.native().find('\0') != std::string::npos)
    fail<FileError>(where_, ": a path cannot hold a zero byte");
  // Without O_NONBLOCK a named pipe would block here until somebody writes to it.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor_ < 0) fail<FileError>(where_, " cannot be opened: ", reason(errno));
  struct stat status = {};
  const int failed = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
  if (failed == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    return;
  }
  ::close(descriptor_);
  if (failed != 0) fail<FileError>(where_, " cannot be examined: ", reason(failed));
  fail<FileError>(where_, " is a folder, pipe or device; accepted: a regular file");
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

void InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // Linux stops at 2^31 - 4096
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got =
        ::pread(descriptor_, out.data() + done, std::min(out.size() - done, kMostAtOnce),
                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail<FileError>(where_, " cannot be read: ", reason(errno));
    if (got == 0)
      fail<FileError>(where_, " ends at byte ", offset + done, "; ", offset + out.size(),
                      " bytes were expected");
    done += static_cast<std::size_t>(got);
  }
}

Bytes allocate(std::uint64_t size, const std::string& where) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());
  try {
    if (size > kMost) throw std::bad_alloc();
    return Bytes(static_cast<std::size_t>(size));
  } catch (const std::bad_alloc&) {
    fail<FileError>(where, ": ", size, " bytes do not fit into memory");
  }
}

Bytes read_bytes(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const InputFile file(path);
  check_size(file, path, max_bytes);
  Bytes bytes = allocate(file.size(), "attn::files::read: " + path_text(path));
  file.read_at(0, bytes.span());
  return bytes;
}

std::string read_text(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const Bytes bytes = read_bytes(path, max_bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace attn::files
