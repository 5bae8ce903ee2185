/// BLEU: clipped n-gram precision with a penalty for short answers.
/// Papineni, Roukos, Ward and Zhu, 2002; the numbers of sacreBLEU 2.6 (Post, 2018,
/// arXiv:1804.08771).

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/text/metrics/references.hpp"

namespace attn::text {

struct Bleu {
  static constexpr std::size_t kOrders = 4;

  double score = 0.0;                        ///< 0 to 100
  std::array<double, kOrders> precisions{};  ///< of 1- to 4-grams, 0 to 100, smoothed
  double brevity_penalty = 0.0;              ///< exp(1 - references / length), at most 1
  std::int64_t length = 0;                   ///< tokens of the hypotheses
  std::int64_t reference_length = 0;         ///< tokens of the references nearest in length
  std::array<std::int64_t, kOrders> matches{};
  std::array<std::int64_t, kOrders> totals{};
};

/// Over all lines: exponential smoothing of orders without a match, all four orders.
Bleu corpus_bleu(Hypotheses hypotheses, References references,
                 LetterCase letters = LetterCase::kept);

/// Of one line: orders longer than the hypothesis are left out.
Bleu sentence_bleu(const std::string& hypothesis, const std::vector<std::string>& references,
                   LetterCase letters = LetterCase::kept);

/// The tokens BLEU counts: mteval-v13a's.
std::vector<std::string> tokenise_13a(std::string_view text);

}  // namespace attn::text
