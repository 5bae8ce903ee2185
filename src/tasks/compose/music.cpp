#include "tasks/compose/music.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks::compose {
namespace {

std::size_t column_of(const Table& table, std::string_view name) {
  const auto at = std::find(table.columns.begin(), table.columns.end(), name);
  if (at == table.columns.end()) fail("a table of notes has a column \"", name, "\"");
  return static_cast<std::size_t>(at - table.columns.begin());
}

double number_in(const Table& table, std::size_t row, std::size_t column) {
  const auto* number = std::get_if<double>(&table.rows[row][column]);
  if (number == nullptr || !std::isfinite(*number))
    fail("row ", row + 1, " of the notes has no number in the column \"", table.columns[column],
         "\"");
  return *number;
}

}  // namespace

std::int64_t Music::end() const {
  std::int64_t end = 0;
  for (const Note& note : notes) end = std::max(end, note.begin + note.length);
  return end;
}

void sort_notes(std::vector<Note>& notes) {
  std::sort(notes.begin(), notes.end(), [](const Note& a, const Note& b) {
    return a.begin != b.begin   ? a.begin < b.begin
           : a.pitch != b.pitch ? a.pitch < b.pitch
                                : a.length < b.length;
  });
}

std::string name_of_pitch(int pitch) {
  constexpr std::array<const char*, 12> kNames{"C",  "C#", "D",  "D#", "E",  "F",
                                               "F#", "G",  "G#", "A",  "A#", "B"};
  return kNames[static_cast<std::size_t>(pitch % 12)] + std::to_string(pitch / 12 - 1);
}

Table table_of(const Music& music) {
  Table table{{"begin", "length", "pitch", "name"}, {}};
  for (const Note& note : music.notes)
    table.rows.push_back({static_cast<double>(note.begin) / kQuarter,
                          static_cast<double>(note.length) / kQuarter,
                          static_cast<double>(note.pitch), name_of_pitch(note.pitch)});
  return table;
}

Music music_of(const Table& table) {
  const std::size_t begin = column_of(table, "begin");
  const std::size_t length = column_of(table, "length");
  const std::size_t pitch = column_of(table, "pitch");
  if (table.rows.size() > kMostNotes)
    fail("there are ", table.rows.size(), " notes; at most ", kMostNotes, " are read");
  constexpr double kMost = static_cast<double>(kMostTicks) / kQuarter;
  Music music;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const double from = number_in(table, row, begin);
    const double quarters = number_in(table, row, length);
    const double tone = number_in(table, row, pitch);
    if (!(from >= 0.0 && quarters > 0.0 && from + quarters <= kMost))
      fail("row ", row + 1, " of the notes begins at ", from, " and has a length of ", quarters,
           "; from 0 to ", kMost, " quarters are read");
    if (!(tone >= 0.0 && tone <= 127.0) || tone != std::floor(tone))
      fail("row ", row + 1, " of the notes has the pitch ", tone,
           "; whole numbers of MIDI, 0 to 127, are read");
    music.notes.push_back({std::llround(from * kQuarter),
                           std::max<std::int64_t>(1, std::llround(quarters * kQuarter)),
                           static_cast<int>(tone)});
  }
  sort_notes(music.notes);
  return music;
}

}  // namespace attn::tasks::compose
