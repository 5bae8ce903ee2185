/// A user's own pairs: a file of lines, source and target between tabs.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

struct PairOptions {
  double development = 0.05;  ///< share of the different sources
  double test = 0.05;
  std::uint64_t seed = 1;  ///< chooses which
};

/// source<TAB>target, further columns being further right targets. UTF-8, with or without a
/// byte order mark, lines ended by LF or CR LF; every line is a pair, there are no comments.
/// Lines that are not pairs are a FileError that names the first few of them; nothing is left
/// out.
///
/// Equal sources fall into the same part. In development and test they become one example with
/// all their targets; train keeps every line.
Corpus read_pairs(const std::filesystem::path& path, const PairOptions& options,
                  const Say& say);

}  // namespace attn::tasks
