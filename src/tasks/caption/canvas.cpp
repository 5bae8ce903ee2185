#include "attn/tasks/caption/canvas.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/philox.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/caption/digits.hpp"

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

/// Sides that the 28 pixels of a digit are drawn in; its ink takes some five sevenths of them.
constexpr std::int64_t kLeastSide = 20;
constexpr std::int64_t kLargestSide = 30;
/// What is darker than this at the rim of a digit is not its ink.
constexpr std::uint8_t kInk = 40;
constexpr std::int64_t kSpare = 2;    ///< around the ink, in a box
constexpr std::int64_t kGap = 5;      ///< between the ink of two digits, at least
constexpr std::uint32_t kNoise = 24;  ///< the brightest background, of 255
constexpr int kTries = 500;           ///< to place so many digits, before one is left out

/// Whole numbers that are a function of a seed, a canvas and a count.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t index) : seed_(seed), index_(index) {}

  std::uint32_t word() {
    if (left_ == 0) {
      const auto block = philox<std::uint32_t>({drawn_++, static_cast<std::uint32_t>(index_),
                                                static_cast<std::uint32_t>(index_ >> 32), 0},
                                               seed_);
      const std::uint32_t words[] = {block.a, block.b, block.c, block.d};
      std::copy(std::begin(words), std::end(words), words_);
      left_ = 4;
    }
    return words_[--left_];
  }

  /// In [least, most].
  std::int64_t between(std::int64_t least, std::int64_t most) {
    const auto span = static_cast<std::uint64_t>(most - least + 1);
    return least + static_cast<std::int64_t>(word() * span >> 32);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t index_;
  std::uint32_t drawn_ = 0;
  std::uint32_t words_[4] = {};
  int left_ = 0;
};

/// A digit in its size, cut to its ink.
struct Glyph {
  std::int64_t digit = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint8_t> pixels;
};

/// The square scaled by bilinear interpolation in whole numbers, so that all machines agree.
std::vector<std::uint8_t> scaled(std::span<const std::uint8_t> from, std::int64_t side) {
  constexpr std::int64_t kOne = 256;
  const auto at = [&](std::int64_t y, std::int64_t x) {
    const std::int64_t row = std::clamp<std::int64_t>(y, 0, kDigitSide - 1);
    const std::int64_t column = std::clamp<std::int64_t>(x, 0, kDigitSide - 1);
    return std::int64_t{from[static_cast<std::size_t>(row * kDigitSide + column)]};
  };
  std::vector<std::uint8_t> to;
  to.reserve(static_cast<std::size_t>(side * side));
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) {
      // Middles of pixels fall on middles; the half keeps the division away from below zero.
      const std::int64_t v = ((2 * y + 1) * kDigitSide * kOne / side + kOne) / 2;
      const std::int64_t u = ((2 * x + 1) * kDigitSide * kOne / side + kOne) / 2;
      const std::int64_t row = v / kOne - 1;
      const std::int64_t column = u / kOne - 1;
      const std::int64_t down = v % kOne;
      const std::int64_t across = u % kOne;
      const std::int64_t upper =
          at(row, column) * (kOne - across) + at(row, column + 1) * across;
      const std::int64_t lower =
          at(row + 1, column) * (kOne - across) + at(row + 1, column + 1) * across;
      to.push_back(
          static_cast<std::uint8_t>((upper * (kOne - down) + lower * down) / (kOne * kOne)));
    }
  }
  return to;
}

Glyph draw_glyph(const Digits& digits, Dice& dice) {
  const auto which =
      static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(digits.size()) - 1));
  const std::int64_t side = dice.between(kLeastSide, kLargestSide);
  const std::int64_t ink = dice.between(192, 256);  // of 256
  const std::vector<std::uint8_t> square = scaled(digits.at(which), side);
  std::int64_t left = side;
  std::int64_t right = -1;
  std::int64_t top = side;
  std::int64_t bottom = -1;
  for (std::int64_t i = 0; i < side * side; ++i) {
    if (square[static_cast<std::size_t>(i)] < kInk) continue;
    left = std::min(left, i % side);
    right = std::max(right, i % side);
    top = std::min(top, i / side);
    bottom = std::max(bottom, i / side);
  }
  if (right < 0) fail("attn::tasks::compose_canvas: digit ", which, " has no ink");
  Glyph glyph{digits.labels[which], right - left + 1, bottom - top + 1, {}};
  for (std::int64_t y = top; y <= bottom; ++y)
    for (std::int64_t x = left; x <= right; ++x)
      glyph.pixels.push_back(static_cast<std::uint8_t>(
          square[static_cast<std::size_t>(y * side + x)] * ink / 256));
  return glyph;
}

bool apart(const PlacedDigit& a, const PlacedDigit& b) {
  return a.x + a.width + kGap <= b.x || b.x + b.width + kGap <= a.x ||
         a.y + a.height + kGap <= b.y || b.y + b.height + kGap <= a.y;
}

/// Places for the glyphs, in their order, boxes without what is spare; nothing when two are too
/// near or the caption would not be clear.
std::optional<std::vector<PlacedDigit>> place(const std::vector<Glyph>& glyphs, Dice& dice) {
  std::vector<PlacedDigit> placed;
  for (const Glyph& glyph : glyphs) {
    const std::int64_t x = dice.between(1, kCanvasSide - 1 - glyph.width);
    const std::int64_t y = dice.between(1, kCanvasSide - 1 - glyph.height);
    placed.push_back({glyph.digit, x, y, glyph.width, glyph.height});
  }
  for (std::size_t i = 0; i < placed.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!apart(placed[i], placed[j])) return std::nullopt;
  if (!caption_order(placed)) return std::nullopt;
  return placed;
}

void paint(const Glyph& glyph, const PlacedDigit& at, std::vector<std::uint8_t>& pixels) {
  for (std::int64_t y = 0; y < glyph.height; ++y)
    for (std::int64_t x = 0; x < glyph.width; ++x) {
      auto& pixel = pixels[static_cast<std::size_t>((at.y + y) * kCanvasSide + at.x + x)];
      pixel = std::max(pixel, glyph.pixels[static_cast<std::size_t>(y * glyph.width + x)]);
    }
}

PlacedDigit with_spare(const PlacedDigit& box) {
  const std::int64_t x = std::max<std::int64_t>(0, box.x - kSpare);
  const std::int64_t y = std::max<std::int64_t>(0, box.y - kSpare);
  return {box.digit, x, y, std::min(kCanvasSide, box.x + box.width + kSpare) - x,
          std::min(kCanvasSide, box.y + box.height + kSpare) - y};
}

std::int64_t draw_count(Dice& dice) {
  const std::int64_t of_a_hundred = dice.between(0, 99);
  return of_a_hundred < 20 ? 1 : of_a_hundred < 65 ? 2 : 3;
}

}  // namespace

Canvas compose_canvas(const Digits& digits, std::uint64_t seed, std::uint64_t index) {
  if (digits.size() == 0) fail("attn::tasks::compose_canvas: there are no digits");
  Dice dice(seed, index);
  std::vector<Glyph> glyphs;
  for (std::int64_t left = draw_count(dice); left > 0; --left)
    glyphs.push_back(draw_glyph(digits, dice));
  std::optional<std::vector<PlacedDigit>> placed;
  for (int tries = 1; !placed; ++tries) {
    placed = place(glyphs, dice);
    if (tries % kTries == 0 && glyphs.size() > 1) glyphs.pop_back();
  }

  Canvas canvas;
  for (std::int64_t i = 0; i < kCanvasSide * kCanvasSide; i += 4) {
    const std::uint32_t word = dice.word();
    for (int byte = 0; byte < 4; ++byte)
      canvas.pixels.push_back(
          static_cast<std::uint8_t>((word >> (8 * byte) & 255u) * kNoise >> 8));
  }
  for (std::size_t i = 0; i < placed->size(); ++i)
    paint(glyphs[i], (*placed)[i], canvas.pixels);
  if (auto ordered = caption_order(std::move(*placed))) canvas.digits = std::move(*ordered);
  canvas.caption = caption_of(canvas.digits);
  for (PlacedDigit& digit : canvas.digits) digit = with_spare(digit);
  return canvas;
}

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
