/// A user's own pairs: a file of lines between tabs, a CSV table, or JSON lines.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <string>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

struct PairOptions {
  double development = 0.05;  ///< share of the different sources
  double test = 0.05;
  std::uint64_t seed = 1;  ///< chooses which
  /// Of a table with a header, by name or by number from 1; of JSON lines, the members.
  std::string source_column = "source";
  std::string target_column = "target";
};

/// Three formats, told by the file's ending, or by its first letter where that says nothing:
///   .tsv, .txt   source<TAB>target, further columns being further right targets; no header,
///                unless a column is named
///   .csv         a table with a header, fields between quotes where they need it
///   .jsonl       {"source": "...", "target": "..."} a line; a list holds several right targets
/// UTF-8, with or without a byte order mark, lines ended by LF or CR LF; there are no comments.
/// Lines that are not pairs are a FileError that names the first few of them; nothing is left
/// out.
///
/// Equal sources fall into the same part. In development and test they become one example with
/// all their targets; train keeps every line.
Corpus read_pairs(const std::filesystem::path& path, const PairOptions& options,
                  const Say& say);

}  // namespace attn::tasks
