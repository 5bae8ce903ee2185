/// Clips: short films of game figures, each of which does one thing, named by its files.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks::watch {

/// Pixels of a side, and frames, that the network sees.
inline constexpr std::int64_t kSide = 36;
inline constexpr std::int64_t kFrames = 8;
/// Of a film that is read, at most.
inline constexpr std::size_t kMostFrames = 2000;

/// What a figure does.
const std::vector<std::string>& actions();

/// What the name of a series of pictures says: "orcs/archer-ranged" is the unit "orcs/archer",
/// which does "ranged". Nothing where it has no word for an action.
struct SeriesName {
  std::string unit;
  std::string action;
};
std::optional<SeriesName> parse_series(std::string_view path);

/// Eight of them, as evenly as there are.
Frames eight_of(const Frames& frames);
/// On a square of kSide pixels, as large as it fits, in three channels; what is left free is
/// white.
Picture fitted(const Picture& picture);

/// The animations of Battle for Wesnoth. A fold is a fifth of the units: fold 1 to 5 is the
/// test part, the next one development. The package is fetched where the cache does not have
/// them.
Corpus clip_corpus(std::int64_t fold, const Say& say);

/// How clips are kept, and back; FileError, which begins with `where`, for anything else.
std::string packed(const std::vector<Example>& clips);
std::vector<Example> unpacked(std::string_view text, const std::string& where);
/// Units of one fold stay together.
std::int64_t fold_of(const std::string& unit);

}  // namespace attn::tasks::watch
