#include "tasks/compose/midi.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "tasks/compose/music.hpp"

namespace attn::tasks::compose {
namespace {

constexpr int kDrums = 9;  ///< the channel, from 0
constexpr std::uint64_t kMostTracks = 1024;
/// Microseconds of a quarter unless a file says otherwise: 120 a minute.
constexpr double kUsualTempo = 500000.0;
constexpr double kMicroseconds = 6e7;  ///< of a minute
constexpr std::uint8_t kVelocity = 80;

/// Bytes that are taken one by one; past the end is an error.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, const std::string& where)
      : bytes_(bytes), where_(where) {}

  bool at_end() const { return at_ == bytes_.size(); }

  std::uint8_t byte() {
    need(1);
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  std::uint8_t peek() const {
    need(1);
    return static_cast<std::uint8_t>(bytes_[at_]);
  }
  std::uint32_t number(int width) {
    std::uint32_t value = 0;
    for (int i = 0; i < width; ++i) value = value << 8U | byte();
    return value;
  }
  /// Seven bits a byte, at most four bytes.
  std::uint32_t variable() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const std::uint8_t one = byte();
      value = value << 7U | (one & 0x7FU);
      if ((one & 0x80U) == 0) return value;
    }
    fail<FileError>(where_, ": a number of variable length has more than four bytes");
  }
  std::span<const std::byte> take(std::size_t count) {
    need(count);
    const auto part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }
  std::string text(std::size_t count) {
    std::string text;
    for (const std::byte one : take(count)) text += static_cast<char>(one);
    return text;
  }

 private:
  void need(std::size_t count) const {
    if (count > bytes_.size() - at_)
      fail<FileError>(where_, ": the MIDI file is cut off: ", count, " more bytes are told, ",
                      bytes_.size() - at_, " are there");
  }

  std::span<const std::byte> bytes_;
  std::string where_;
  std::size_t at_ = 0;
};

class MidiReader {
 public:
  explicit MidiReader(const std::string& where) : where_(where) {}

  Music read(std::span<const std::byte> bytes) {
    Cursor file(bytes, where_);
    const std::uint64_t tracks = read_header(file);
    for (std::uint64_t seen = 0; seen < tracks && !file.at_end();) {
      const std::string name = file.text(4);
      const auto chunk = file.take(file.number(4));
      if (name != "MTrk") continue;  // chunks of other kinds are skipped, as the format wants
      ++seen;
      read_track(Cursor(chunk, where_));
    }
    music_.tempo = kMicroseconds / tempo_;
    sort_notes(music_.notes);
    return std::move(music_);
  }

 private:
  std::uint64_t read_header(Cursor& file) {
    if (file.text(4) != "MThd") fail<FileError>(where_, " is no MIDI file");
    Cursor header(file.take(file.number(4)), where_);
    const std::uint32_t format = header.number(2);
    const std::uint64_t tracks = header.number(2);
    const std::uint32_t division = header.number(2);
    if (format > 1) fail<FileError>(where_, ": MIDI of format ", format, "; 0 and 1 are read");
    if (tracks > kMostTracks)
      fail<FileError>(where_, ": ", tracks, " tracks; at most ", kMostTracks, " are read");
    if (division == 0 || (division & 0x8000U) != 0)
      fail<FileError>(where_, ": times are ",
                      division == 0 ? "parts of nothing" : "frames of a film",
                      "; ticks of a quarter are read");
    division_ = division;
    return tracks;
  }

  std::int64_t ticks(std::uint64_t time) const {
    return static_cast<std::int64_t>(
        (time * static_cast<std::uint64_t>(kQuarter) + division_ / 2) / division_);
  }

  void read_track(Cursor track) {
    std::uint64_t time = 0;
    std::uint8_t status = 0;
    open_.clear();
    while (!track.at_end()) {
      time += track.variable();
      if (ticks(time) > kMostTicks)
        fail<FileError>(where_, ": the music is longer than ", kMostTicks / kQuarter,
                        " quarters; that is not read");
      if ((track.peek() & 0x80U) != 0) {
        const std::uint8_t next = track.byte();
        if (next == 0xFF) {
          if (read_meta(track)) break;
          continue;
        }
        if (next == 0xF0 || next == 0xF7) {
          track.take(track.variable());
          status = 0;  // a message of the system ends the running status
          continue;
        }
        if (next > 0xF0)
          fail<FileError>(where_, ": a message of the system, ", static_cast<int>(next),
                          ", is within a track");
        status = next;
      } else if (status == 0) {
        fail<FileError>(where_, ": data stand where a message has to begin");
      }
      read_message(track, status, ticks(time));
    }
    // What was never let go sounds to the end of the track.
    for (const auto& [key, begins] : open_)
      if (key.first != kDrums)
        for (const std::int64_t begin : begins) add(begin, ticks(time), key.second);
  }

  /// Whether the track ends.
  bool read_meta(Cursor& track) {
    const std::uint8_t kind = track.byte();
    Cursor data(track.take(track.variable()), where_);
    if (kind == 0x51 && !has_tempo_) {
      const std::uint32_t tempo = data.number(3);
      if (tempo == 0) fail<FileError>(where_, ": a quarter takes no time");
      tempo_ = tempo;
      has_tempo_ = true;
    }
    return kind == 0x2F;
  }

  void read_message(Cursor& track, std::uint8_t status, std::int64_t time) {
    const int kind = status >> 4;
    const int channel = status & 0x0F;
    const int first = data_byte(track);
    if (kind == 0xC || kind == 0xD) return;  // messages of one byte
    const int second = data_byte(track);
    if (kind == 0x9 && second > 0) {
      open_[{channel, first}].push_back(time);
    } else if (kind == 0x8 || kind == 0x9) {
      const auto at = open_.find({channel, first});
      if (at == open_.end() || at->second.empty()) return;
      if (channel != kDrums) add(at->second.front(), time, first);
      at->second.erase(at->second.begin());
    }
  }

  int data_byte(Cursor& track) const {
    const std::uint8_t value = track.byte();
    if (value > 0x7F)
      fail<FileError>(where_, ": a message of MIDI has the data byte ", static_cast<int>(value),
                      "; 0 to 127 are accepted");
    return value;
  }

  void add(std::int64_t begin, std::int64_t end, int pitch) {
    if (music_.notes.size() == kMostNotes)
      fail<FileError>(where_, ": there are more than ", kMostNotes, " notes");
    if (end > begin) music_.notes.push_back({begin, end - begin, pitch});
  }

  const std::string& where_;
  Music music_;
  std::uint64_t division_ = 1;
  double tempo_ = kUsualTempo;
  bool has_tempo_ = false;
  /// By channel and pitch, when those that sound began.
  std::map<std::pair<int, int>, std::vector<std::int64_t>> open_;
};

using Out = std::vector<std::uint8_t>;

void put_number(Out& out, std::uint32_t value, int width) {
  for (int i = width - 1; i >= 0; --i)
    out.push_back(static_cast<std::uint8_t>(value >> (8U * static_cast<unsigned>(i))));
}

void put_text(Out& out, std::string_view text) {
  for (const char c : text) out.push_back(static_cast<std::uint8_t>(c));
}

void put_variable(Out& out, std::uint32_t value) {
  std::array<std::uint8_t, 5> bytes{};
  std::size_t count = 0;
  do {
    bytes[count++] = static_cast<std::uint8_t>(value & 0x7FU);
    value >>= 7U;
  } while (value != 0);
  while (count > 0) {
    --count;
    out.push_back(static_cast<std::uint8_t>(bytes[count] | (count > 0 ? 0x80U : 0U)));
  }
}

struct Event {
  std::int64_t time;
  bool on;
  int pitch;
};

std::vector<Event> events_of(const Music& music) {
  std::vector<Event> events;
  for (const Note& note : music.notes) {
    events.push_back({note.begin, true, note.pitch});
    events.push_back({note.begin + note.length, false, note.pitch});
  }
  // What ends is let go before what begins at the same time is struck.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.on != b.on ? !a.on : a.pitch < b.pitch;
  });
  return events;
}

}  // namespace

Music read_midi(std::span<const std::byte> bytes, const std::string& where) {
  if (bytes.size() > kMostMidiBytes)
    fail<FileError>(where, ": ", bytes.size(), " bytes of MIDI; at most ", kMostMidiBytes,
                    " are read");
  return MidiReader(where).read(bytes);
}

std::vector<std::uint8_t> write_midi(const Music& music) {
  Out track;
  put_variable(track, 0);
  put_number(track, 0xFF5103, 3);
  const double quarter = std::clamp(kMicroseconds / music.tempo, 1.0, 16777215.0);
  put_number(track, static_cast<std::uint32_t>(std::lround(quarter)), 3);
  std::int64_t time = 0;
  for (const Event& event : events_of(music)) {
    put_variable(track, static_cast<std::uint32_t>(event.time - time));
    time = event.time;
    track.push_back(event.on ? 0x90 : 0x80);
    track.push_back(static_cast<std::uint8_t>(event.pitch));
    track.push_back(event.on ? kVelocity : 0);
  }
  put_variable(track, 0);
  put_number(track, 0xFF2F00, 3);
  Out out;
  put_text(out, "MThd");
  put_number(out, 6, 4);
  put_number(out, 0, 2);
  put_number(out, 1, 2);
  put_number(out, static_cast<std::uint32_t>(kQuarter), 2);
  put_text(out, "MTrk");
  put_number(out, static_cast<std::uint32_t>(track.size()), 4);
  out.insert(out.end(), track.begin(), track.end());
  return out;
}

}  // namespace attn::tasks::compose
