/// Pictures of two colours: digits whose pixels were drawn by how grey they are.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks::paint {

inline constexpr std::int64_t kSide = kDigitSide;
inline constexpr std::int64_t kPixels = kSide * kSide;
inline constexpr std::int64_t kClasses = 10;

/// Row by row, 0 or 1.
using Bits = std::vector<std::uint8_t>;

/// Each pixel is ink with the probability that its grey is: a function of the seed and the
/// index. Salakhutdinov and Murray, 2008.
Bits draw_bits(std::span<const std::uint8_t> grey, std::uint64_t seed, std::uint64_t index);

/// 0 becomes 0, 1 becomes 255.
Picture picture_of(const Bits& bits);
/// From the middle grey on there is ink.
Bits bits_of(const Picture& picture);

/// The parts of an example: a grey digit, which train holds and draws anew each time, or pixels
/// that were drawn once for ever, which development and test hold.
inline constexpr const char* kDigit = "digit";
inline constexpr const char* kFixed = "pixels";

Corpus corpus_of(const DigitParts& parts);

/// Nats a test picture: of each pixel by how often it is ink, and by logistic regression on the
/// pixels near it that come before it.
std::vector<std::pair<std::string, double>> baselines_of(const Corpus& corpus);

}  // namespace attn::tasks::paint
