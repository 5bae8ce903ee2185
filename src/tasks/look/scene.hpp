/// Scenes: a handwritten digit somewhere on a dark square, among pieces of other digits.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"

namespace attn::tasks::look {

/// As in Mnih et al., 2014.
struct SceneKind {
  std::string_view name;
  std::int64_t side;    ///< of the square, in pixels
  std::int64_t pieces;  ///< of other digits, kPieceSide pixels on a side
};

inline constexpr std::int64_t kPieceSide = 8;

/// "translated", "cluttered", "large".
std::span<const SceneKind> scene_kinds();
std::vector<std::string> scene_names();
/// InvalidArgument, which lists the kinds, for another name.
const SceneKind& scene_named(std::string_view name);

/// Pixels of digits, 28 x 28 each; they belong to somebody else.
using DigitList = std::vector<std::span<const std::uint8_t>>;

/// Draws the digit of that number into `scene`, side x side pixels; pieces come from any of the
/// list. A function of the seed and the index.
void compose_scene(const DigitList& digits, std::size_t which, const SceneKind& kind,
                   std::uint64_t seed, std::uint64_t index, std::span<std::uint8_t> scene);

/// One behind the other, each digit of the list once: [digits, side, side].
std::vector<std::uint8_t> compose_scenes(const DigitList& digits, const SceneKind& kind,
                                         std::uint64_t seed);

/// The parts of an example: a digit to compose scenes of, which is what train holds, or a scene
/// as it is, which development and test hold.
inline constexpr const char* kDigit = "digit";
inline constexpr const char* kScene = "scene";

/// A scene of each held-out digit, the same ones for ever.
Corpus corpus_of(const DigitParts& parts, const SceneKind& kind);

}  // namespace attn::tasks::look
