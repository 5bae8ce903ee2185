/// chrF2: the F score of character n-grams up to six, recall counting double.
/// Popović, 2015; the numbers of sacreBLEU 2.6.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "attn/text/metrics/references.hpp"

namespace attn::text {

/// 0 to 100. White space does not count; orders that one side is too short for are left out;
/// of several references the best is taken, line by line.
double corpus_chrf(Hypotheses hypotheses, References references,
                   LetterCase letters = LetterCase::kept);
double sentence_chrf(const std::string& hypothesis, const std::vector<std::string>& references,
                     LetterCase letters = LetterCase::kept);

}  // namespace attn::text
