/// Where fetched data stays between runs, and folders that do not.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks {

/// $XDG_CACHE_HOME/attn, or ~/.cache/attn; made if it is not there.
std::filesystem::path cache_folder();

/// Makes a folder and those above it; a FileError tells why it cannot.
void make_folder(const std::filesystem::path& folder);

/// Where files may lie for a while: $TMPDIR, or /tmp; a FileError tells what is wrong with it.
std::filesystem::path temporary_folder();

/// A folder of our own inside another that goes away with everything in it. One in the cache
/// first removes those that runs left there which were killed more than a day ago.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Writes `body` behind a line with its checksum, whole or not at all.
void write_sealed(const std::filesystem::path& path, std::string_view body);
/// What write_sealed wrote; nothing when the file is missing, cut short or changed.
std::optional<std::string> read_sealed(const std::filesystem::path& path);

}  // namespace attn::tasks
