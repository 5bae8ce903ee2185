/// Data that cannot be fetched by a package's name: prepared files, compared with their
/// checksums and kept in the cache.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

struct PreparedFile {
  std::string name;    ///< "nli.tsv.xz"; what ends with .xz is unpacked by the program xz
  std::string sha256;  ///< of that file
  /// Where anyone finds the original, and its licence: "SNLI (…), CC BY-SA 4.0".
  std::string source;
};

/// Takes those of the files that lie in the folder into the cache, and tells their names. A
/// file with another checksum is a FileError, and so is a folder with none of them; then
/// nothing is taken.
std::vector<std::string> take_prepared(const std::filesystem::path& folder,
                                       std::span<const PreparedFile> wanted, const Say& say);

/// Whether the cache has the file.
bool has_prepared(const PreparedFile& file);

/// The contents of a file, unpacked. FileError where the cache does not have it, which names
/// its source, its checksum and the command that takes it.
std::string read_prepared(const PreparedFile& file, const std::string& task);

}  // namespace attn::tasks
