/// Debian's indexes through apt, without root and without touching the system's own lists.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

/// Fetches the index of packages and the descriptions in these languages into `folder`, as
/// text: Packages, Translation-en, ... and Release. Debian 12 for amd64 whatever the machine
/// is, so that everybody gets the same. The mirror is $ATTN_DEBIAN_MIRROR, or the system's own;
/// proxies of the system's apt are kept. Errors tell what is missing: apt, the keys of Debian,
/// the network, room.
void fetch_debian(const std::vector<std::string>& languages,
                  const std::filesystem::path& folder, const Say& say);

/// A package of Debian's, which the mirror keeps: its place below pool/, its checksum.
struct DebianPackage {
  std::string place;  ///< "main/w/wesnoth-1.16/wesnoth-1.16-data_1.16.9-1_all.deb"
  std::string sha256;
  std::string size;  ///< "146 MB"
};

/// Fetches the package and unpacks those of its files whose paths begin with `folder` into
/// `to`, where they keep their paths. Errors tell what is missing: apt, dpkg-deb, the network,
/// room.
void fetch_debian_files(const DebianPackage& package, const std::string& folder,
                        const std::filesystem::path& to, const Say& say);

}  // namespace attn::tasks
