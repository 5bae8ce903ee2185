// SPDX-License-Identifier: Apache-2.0

#include "attn/text/metrics/chrf.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/metrics/references.hpp"
#include "attn/text/unicode.hpp"
#include "text/metrics/ngrams.hpp"

namespace attn::text {
namespace {

constexpr std::size_t kOrders = 6;
constexpr double kRecallWeight = 4.0;  // beta squared, beta = 2

struct Counts {
  std::int64_t hypothesis = 0;
  std::int64_t reference = 0;
  std::int64_t match = 0;
};
using Statistics = std::array<Counts, kOrders>;

std::u32string characters(const std::string& text, LetterCase letters) {
  std::u32string out;
  for (const char32_t c : code_points(letters == LetterCase::lowered ? lower(text) : text))
    if (!is_space(c)) out += c;
  return out;
}

double score_of(const Statistics& statistics) {
  double precision = 0.0;
  double recall = 0.0;
  int orders = 0;
  for (const Counts& counts : statistics) {
    if (counts.hypothesis == 0 || counts.reference == 0) continue;
    const auto match = static_cast<double>(counts.match);
    precision += match / static_cast<double>(counts.hypothesis);
    recall += match / static_cast<double>(counts.reference);
    ++orders;
  }
  if (precision + recall == 0.0) return 0.0;
  precision /= orders;
  recall /= orders;
  return 100.0 * (1.0 + kRecallWeight) * precision * recall /
         (kRecallWeight * precision + recall);
}

/// The counts against the reference that gives the best score, the first of equals.
Statistics count_line(const std::string& hypothesis, const std::vector<std::string>& references,
                      LetterCase letters) {
  const std::u32string answer = characters(hypothesis, letters);
  std::array<NgramCounts, kOrders> answered;
  for (std::size_t n = 1; n <= kOrders; ++n) answered[n - 1] = count_ngrams(answer, n);
  Statistics best;
  double best_score = -1.0;
  for (const std::string& reference : references) {
    const std::u32string wanted = characters(reference, letters);
    Statistics statistics;
    for (std::size_t n = 1; n <= kOrders; ++n) {
      Counts& counts = statistics[n - 1];
      counts.reference = ngrams_in(wanted, n);
      // N-grams of an order that the reference is too short for are not held against it.
      counts.hypothesis = counts.reference > 0 ? ngrams_in(answer, n) : 0;
      counts.match = common(answered[n - 1], count_ngrams(wanted, n));
    }
    const double score = score_of(statistics);
    if (score <= best_score) continue;
    best_score = score;
    best = statistics;
  }
  return best;
}

}  // namespace

double corpus_chrf(Hypotheses hypotheses, References references, LetterCase letters) {
  check_references(hypotheses, references, "attn::text::corpus_chrf");
  Statistics sum;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const Statistics line = count_line(hypotheses[i], references[i], letters);
    for (std::size_t n = 0; n < kOrders; ++n) {
      sum[n].hypothesis += line[n].hypothesis;
      sum[n].reference += line[n].reference;
      sum[n].match += line[n].match;
    }
  }
  return score_of(sum);
}

double sentence_chrf(const std::string& hypothesis, const std::vector<std::string>& references,
                     LetterCase letters) {
  if (references.empty()) fail("attn::text::sentence_chrf: there is no reference");
  return score_of(count_line(hypothesis, references, letters));
}

}  // namespace attn::text
