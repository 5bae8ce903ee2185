// SPDX-License-Identifier: Apache-2.0

#include "attn/text/metrics/edit_distance.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attn/text/metrics/references.hpp"
#include "attn/text/unicode.hpp"
#include "text/metrics/alignment.hpp"
#include "text/metrics/ngrams.hpp"

namespace attn::text {
namespace {

using Word = std::uint64_t;
constexpr std::size_t kBits = 64;

/// Where each symbol stands in a text, as bits. Masks of common symbols are kept (there can be
/// no more than 64 of them); others are set for one use and cleared again.
class Masks {
 public:
  explicit Masks(std::u32string_view text)
      : words_((text.size() + kBits - 1) / kBits), scratch_(words_) {
    for (std::size_t i = 0; i < text.size(); ++i) places_[text[i]].push_back(i);
    for (const auto& [symbol, places] : places_)
      if (places.size() > words_) set(places, kept_[symbol] = std::vector<Word>(words_));
  }

  std::size_t words() const { return words_; }

  /// Calls `use` with the mask of a symbol.
  template <class Use>
  void with(char32_t symbol, const Use& use) {
    if (const auto kept = kept_.find(symbol); kept != kept_.end()) return use(kept->second);
    const auto places = places_.find(symbol);
    if (places == places_.end()) return use(scratch_);
    set(places->second, scratch_);
    use(scratch_);
    for (const std::size_t place : places->second) scratch_[place / kBits] = 0;
  }

 private:
  static void set(const std::vector<std::size_t>& places, std::vector<Word>& mask) {
    for (const std::size_t place : places) mask[place / kBits] |= Word{1} << (place % kBits);
  }

  std::size_t words_;
  std::unordered_map<char32_t, std::vector<std::size_t>> places_;
  std::unordered_map<char32_t, std::vector<Word>> kept_;
  std::vector<Word> scratch_;
};

/// 64 rows of a column of the distance table, as differences between neighbours.
struct Block {
  Word plus = ~Word{0};
  Word minus = 0;

  /// One column further. `in` is the difference along the row above (-1, 0, 1); the answer
  /// that along the row of bit `last`.
  int step(Word equal, int in, std::size_t last) {
    const Word below = in < 0 ? 1 : 0;
    const Word vertical = equal | minus;
    equal |= below;
    const Word horizontal = (((equal & plus) + plus) ^ plus) | equal;
    Word rise = minus | ~(horizontal | plus);
    Word fall = plus & horizontal;
    const int out = static_cast<int>((rise >> last) & 1) - static_cast<int>((fall >> last) & 1);
    rise = (rise << 1) | (in > 0 ? 1 : 0);
    fall = (fall << 1) | below;
    plus = fall | ~(vertical | rise);
    minus = rise & vertical;
    return out;
  }
};

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

std::int64_t common_subsequence(std::u32string_view a, std::u32string_view b) {
  if (a.empty() || b.empty()) return 0;
  Masks masks(b);
  // A zero bit is a place where the length grows by one.
  std::vector<Word> row(masks.words(), ~Word{0});
  for (const char32_t symbol : a)
    masks.with(symbol, [&](std::span<const Word> equal) {
      Word carry = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const Word hit = row[i] & equal[i];
        const Word sum = row[i] + hit;
        const Word with_carry = sum + carry;
        carry = (sum < hit ? 1 : 0) | (with_carry < carry ? 1 : 0);
        row[i] = with_carry | (row[i] - hit);
      }
    });
  std::int64_t length = 0;
  for (std::size_t i = 0; i < b.size(); ++i)
    length += ((row[i / kBits] >> (i % kBits)) & 1) == 0;
  return length;
}

std::int64_t edit_distance(std::u32string_view a, std::u32string_view b) {
  if (a.empty() || b.empty()) return static_cast<std::int64_t>(a.size() + b.size());
  Masks masks(b);
  std::vector<Block> blocks(masks.words());
  auto distance = static_cast<std::int64_t>(b.size());
  const std::size_t last = (b.size() - 1) % kBits;
  for (const char32_t symbol : a)
    masks.with(symbol, [&](std::span<const Word> equal) {
      int along = 1;  // the first row counts up
      for (std::size_t i = 0; i + 1 < blocks.size(); ++i)
        along = blocks[i].step(equal[i], along, kBits - 1);
      distance += blocks.back().step(equal[blocks.size() - 1], along, last);
    });
  return distance;
}

}  // namespace attn::text
