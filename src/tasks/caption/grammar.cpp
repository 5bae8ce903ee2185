// The one right caption of a canvas: digits in order, and the words between them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/caption/canvas.hpp"

namespace attn::tasks {
namespace {

constexpr std::int64_t kFirstDigitWord = 4;

enum class Relation { across, down, unclear };

/// Of the middles; twice the distances, so that halves stay whole.
Relation relation(const PlacedDigit& a, const PlacedDigit& b) {
  const std::int64_t across = (2 * b.x + b.width) - (2 * a.x + a.width);
  const std::int64_t down = (2 * b.y + b.height) - (2 * a.y + a.height);
  const std::int64_t more = std::abs(across) - std::abs(down);
  if (more >= 2 * kCaptionMargin) return Relation::across;
  if (-more >= 2 * kCaptionMargin) return Relation::down;
  return Relation::unclear;
}

const std::string& word_of_digit(std::int64_t digit) {
  if (digit < 0 || digit > 9) fail("attn::tasks::caption_of: ", digit, " is no digit");
  return caption_words()[static_cast<std::size_t>(kFirstDigitWord + digit)];
}

}  // namespace

std::optional<std::vector<PlacedDigit>> caption_order(std::vector<PlacedDigit> digits) {
  for (std::size_t i = 0; i < digits.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (relation(digits[i], digits[j]) == Relation::unclear) return std::nullopt;
  // Left of: x grows by more than y changes; above: y by more than x. Either way x + y grows,
  // so sorting by it puts each digit before all that it is left of or above.
  const auto far = [](const PlacedDigit& digit) {
    return 2 * digit.x + digit.width + 2 * digit.y + digit.height;
  };
  std::sort(digits.begin(), digits.end(),
            [&](const PlacedDigit& a, const PlacedDigit& b) { return far(a) < far(b); });
  return digits;
}

std::string caption_of(const std::vector<PlacedDigit>& ordered) {
  if (ordered.empty()) fail("attn::tasks::caption_of: there is no digit");
  std::string text = word_of_digit(ordered[0].digit);
  if (ordered.size() == 1) return (ordered[0].digit == 8 ? "an " : "a ") + text;
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    const bool across = relation(ordered[i - 1], ordered[i]) == Relation::across;
    text += (across ? " left of " : " above ") + word_of_digit(ordered[i].digit);
  }
  return text;
}

const std::vector<std::string>& caption_words() {
  static const std::vector<std::string> kWords{
      "<pad>", "<s>",   "</s>",  "<unk>", "zero", "one", "two",  "three", "four", "five",
      "six",   "seven", "eight", "nine",  "a",    "an",  "left", "of",    "above"};
  return kWords;
}

std::vector<std::int64_t> caption_tokens(std::string_view caption) {
  const auto& words = caption_words();
  std::vector<std::int64_t> tokens;
  while (!caption.empty()) {
    const std::string_view word = caption.substr(0, caption.find(' '));
    caption.remove_prefix(std::min(caption.size(), word.size() + 1));
    const auto at = std::find(words.begin() + kFirstDigitWord, words.end(), word);
    if (at == words.end())
      fail("attn::tasks::caption_tokens: ", files::in_quotes(word), " is no word of a caption");
    tokens.push_back(at - words.begin());
  }
  return tokens;
}

std::string caption_text(const std::vector<std::int64_t>& tokens) {
  std::string text;
  for (const std::int64_t token : tokens) {
    if (!text.empty()) text += " ";
    text += caption_words().at(static_cast<std::size_t>(token));
  }
  return text;
}

std::int64_t digit_named(std::int64_t token) {
  const std::int64_t digit = token - kFirstDigitWord;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

}  // namespace attn::tasks
