// SPDX-License-Identifier: Apache-2.0

#include "attn/text/metrics/edit_distance.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "attn/text/metrics/references.hpp"
#include "attn/text/unicode.hpp"
#include "text/metrics/alignment.hpp"
#include "text/metrics/ngrams.hpp"

namespace attn::text {

namespace {

/// `units(text)` is the sequence that is compared, as numbers.
template <class Units>
ErrorRates rates_of(Hypotheses hypotheses, References variants, const Units& units) {
  ErrorRates rates;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const std::u32string answer = units(hypotheses[i]);
    std::int64_t edits = -1;
    std::int64_t length = 0;
    for (const std::string& variant : variants[i]) {
      const std::u32string wanted = units(variant);
      const std::int64_t distance = edit_distance(answer, wanted);
      if (edits >= 0 && distance >= edits) continue;
      edits = distance;
      length = static_cast<std::int64_t>(wanted.size());
    }
    rates.edits += edits;
    rates.length += length;
    rates.wrong += edits > 0 ? 1 : 0;
    ++rates.lines;
  }
  const auto share = [](std::int64_t part, std::int64_t whole) {
    if (whole == 0) return part == 0 ? 0.0 : 100.0;
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  rates.per = share(rates.edits, rates.length);
  rates.wer = share(rates.wrong, rates.lines);
  return rates;
}

}  // namespace

std::int64_t edit_distance(std::span<const std::string_view> a,
                           std::span<const std::string_view> b) {
  WordNumbers words;
  const std::u32string numbers = words.number(a);
  return edit_distance(numbers, words.number(b));
}

ErrorRates error_rates(Hypotheses hypotheses, References variants, LetterCase letters) {
  check_references(hypotheses, variants, "attn::text::error_rates");
  WordNumbers words;
  return rates_of(hypotheses, variants, [&](const std::string& text) {
    const std::string spelt = letters == LetterCase::lowered ? lower(text) : text;
    return words.number(split_words(spelt));
  });
}

ErrorRates character_error_rates(Hypotheses hypotheses, References variants) {
  check_references(hypotheses, variants, "attn::text::character_error_rates");
  return rates_of(hypotheses, variants,
                  [](const std::string& text) { return code_points(text); });
}

}  // namespace attn::text
