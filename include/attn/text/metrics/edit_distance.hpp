/// Edits between sequences, and the error rates that are made of them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <string_view>

#include "attn/text/metrics/references.hpp"

namespace attn::text {

/// Insertions, deletions and substitutions that turn one sequence into the other (Levenshtein).
std::int64_t edit_distance(std::span<const std::string_view> a,
                           std::span<const std::string_view> b);

struct ErrorRates {
  double per = 0.0;  ///< 100 * edits / length
  double wer = 0.0;  ///< 100 * wrong / lines
  std::int64_t edits = 0;
  std::int64_t length = 0;  ///< units of the variants compared with
  std::int64_t wrong = 0;   ///< lines that equal no variant
  std::int64_t lines = 0;
};

/// Units (phones) stand between white space. Each line is compared with the nearest of its
/// variants, the first of equals.
ErrorRates error_rates(Hypotheses hypotheses, References variants,
                       LetterCase letters = LetterCase::kept);

/// The same with code points as units: per is the character error rate, and a line is wrong
/// where a single one differs.
ErrorRates character_error_rates(Hypotheses hypotheses, References variants);

}  // namespace attn::text
