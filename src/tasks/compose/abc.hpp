/// ABC notation, in which folk tunes are written down: read into notes, and written.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>
#include <string_view>

#include "tasks/compose/chorale.hpp"
#include "tasks/compose/music.hpp"

namespace attn::tasks::compose {

inline constexpr std::size_t kMostAbcBytes = std::size_t{1} << 20;

/// The notes of one tune: headers M, L, K, Q and V, voices side by side, chords, ties, tuplets,
/// broken rhythm and accidentals; repeats are played once, ornaments and texts are skipped.
/// FileError, which begins with `where`, where there is no such tune.
Music read_abc(std::string_view text, const std::string& where);

/// A step is a chord of a quarter.
std::string write_abc(const Steps& steps, double tempo);

/// One line of melody in eighths, in 4/4 and C: of notes that sound together the highest.
std::string write_melody(const Music& music);

}  // namespace attn::tasks::compose
