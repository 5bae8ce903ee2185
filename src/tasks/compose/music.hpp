/// Music as notes with a begin, a length and a pitch: what MIDI files, ABC and models exchange.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/tasks/value.hpp"

namespace attn::tasks::compose {

/// Ticks of a quarter note: divided by 3, 5 and powers of two, so that tuplets stay whole.
inline constexpr std::int64_t kQuarter = 960;
/// What is read of a file or a request, at most.
inline constexpr std::size_t kMostNotes = 20000;
inline constexpr std::int64_t kMostTicks = kQuarter * 4 * 4000;
/// Of a piano.
inline constexpr int kLowest = 21;
inline constexpr int kHighest = 108;

struct Note {
  std::int64_t begin = 0;   ///< ticks
  std::int64_t length = 0;  ///< ticks, above 0
  int pitch = 60;           ///< of MIDI: 60 is middle C

  bool operator==(const Note&) const = default;
};

struct Music {
  std::vector<Note> notes;  ///< by begin, then by pitch
  double tempo = 100.0;     ///< quarters a minute

  std::int64_t end() const;  ///< ticks
  bool operator==(const Music&) const = default;
};

/// By begin, then by pitch.
void sort_notes(std::vector<Note>& notes);

/// "C4", "F#5": 60 is C4.
std::string name_of_pitch(int pitch);

/// Columns begin, length (in quarters), pitch and name; one row a note.
Table table_of(const Music& music);
/// InvalidArgument, which tells what is wrong, for a table of something else. Columns may stand
/// in any order, others are skipped.
Music music_of(const Table& table);

}  // namespace attn::tasks::compose
