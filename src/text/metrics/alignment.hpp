/// Alignments of symbol sequences, 64 cells of the table at a time.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string_view>

namespace attn::text {

/// The length of the longest common subsequence. Hyyrö, 2004. Time still grows with the product
/// of the lengths, but a megabyte against a megabyte on one line is a matter of seconds.
std::int64_t common_subsequence(std::u32string_view a, std::u32string_view b);

/// Levenshtein's distance. Myers, 1999, as blocks of 64 rows.
std::int64_t edit_distance(std::u32string_view a, std::u32string_view b);

}  // namespace attn::text
