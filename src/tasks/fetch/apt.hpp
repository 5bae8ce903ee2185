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

}  // namespace attn::tasks
