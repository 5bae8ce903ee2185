#include "tasks/compose/abc.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "tasks/compose/chorale.hpp"
#include "tasks/compose/music.hpp"

namespace attn::tasks::compose {
namespace {

constexpr std::array<int, 7> kSteps{9, 11, 0, 2, 4, 5, 7};  ///< of a to g above C
constexpr int kLongestNumber = 4096;
constexpr std::size_t kMostVoices = 16;
constexpr const char* kSharpsInOrder = "FCGDAEB";

/// A share of a whole note, or a factor.
struct Ratio {
  std::int64_t up = 1;
  std::int64_t down = 1;
};

/// Where a voice is.
struct Voice {
  std::int64_t time = 0;
  std::map<int, int> accidentals{};  ///< of this bar, by letter and octave
  std::vector<std::size_t> tied{};   ///< notes that the next ones may go on with
  std::vector<std::size_t> last{};   ///< the notes before a broken rhythm
  std::int64_t last_length = 0;
  double next_factor = 1.0;  ///< of a broken rhythm, for the next note
  int tuplet_left = 0;
  double tuplet_factor = 1.0;
};

class AbcReader {
 public:
  explicit AbcReader(const std::string& where) : where_(where) {}

  Music read(std::string_view text) {
    if (text.size() > kMostAbcBytes)
      fail<FileError>(where_, ": ", text.size(), " bytes of ABC; at most ", kMostAbcBytes,
                      " are read");
    while (!text.empty()) {
      std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      line = line.substr(0, line.find('%'));
      while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
        line.remove_suffix(1);
      // A second number is a second tune.
      if (line.starts_with("X:") && !music_.notes.empty()) break;
      if (line.size() > 1 && line[1] == ':' && is_field(line[0])) {
        field(line[0], line.substr(2));
      } else {
        body(line);
      }
    }
    sort_notes(music_.notes);
    return std::move(music_);
  }

 private:
  static int byte(char c) { return static_cast<unsigned char>(c); }

  /// Small letters are notes, but for words below a line and what else is of no sound.
  static bool is_field(char c) {
    return std::isupper(byte(c)) != 0 || c == 'w' || c == 's' || c == 'm' || c == 'r';
  }

  Voice& voice() { return voices_[current_]; }

  std::int64_t unit() const {
    if (unit_) return *unit_;
    // The standard's own choice, by the metre.
    return metre_ < 0.75 ? kQuarter / 4 : kQuarter / 2;
  }

  void field(char name, std::string_view value) {
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    switch (name) {
      case 'M':
        metre_ = value.starts_with("C") || value.starts_with("none") ? 1.0 : share(value);
        break;
      case 'L':
        unit_ = std::max<std::int64_t>(
            1, std::llround(share(value) * 4.0 * static_cast<double>(kQuarter)));
        break;
      case 'K':
        key(value);
        break;
      case 'Q':
        tempo(value);
        break;
      case 'V': {
        const std::string id(value.substr(0, value.find(' ')));
        if (!voices_.contains(id) && voices_.size() == kMostVoices)
          fail<FileError>(where_, ": there are more than ", kMostVoices, " voices");
        current_ = id;
        break;
      }
      default:
        break;
    }
  }

  /// "6/8".
  double share(std::string_view text) const {
    const std::size_t slash = text.find('/');
    const int up = whole(text.substr(0, slash));
    const int down = slash == std::string_view::npos ? 1 : whole(text.substr(slash + 1));
    return static_cast<double>(up) / down;
  }

  int whole(std::string_view text) const {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 1 || value > kLongestNumber)
      fail<FileError>(where_, ": ", files::in_quotes(text), " is no number of 1 to ",
                      kLongestNumber);
    return value;
  }

  /// "1/4=100", "100".
  void tempo(std::string_view text) {
    const std::size_t equals = text.find('=');
    const double beat =
        equals == std::string_view::npos || text.find('/') == std::string_view::npos
            ? 0.25
            : share(text);
    std::string_view number = equals == std::string_view::npos ? text : text.substr(equals + 1);
    while (!number.empty() && number.front() == ' ') number.remove_prefix(1);
    if (number.empty() || std::isdigit(byte(number[0])) == 0) return;  // "Allegro"
    music_.tempo = std::clamp(whole(number) * beat * 4.0, 10.0, 600.0);
  }

  /// Sharps or flats of "Gm", "D Mixolydian", "Bb".
  void key(std::string_view text) {
    key_.fill(0);
    if (text.empty() || text[0] < 'A' || text[0] > 'G') return;
    // How many fifths a major key is above C, of A to G.
    constexpr std::array<int, 7> kFifths{3, 5, 0, 2, 4, -1, 1};
    int fifths = kFifths[static_cast<std::size_t>(text[0] - 'A')];
    std::size_t at = 1;
    if (at < text.size() && (text[at] == '#' || text[at] == 'b'))
      fifths += text[at++] == '#' ? 7 : -7;
    std::string mode;
    for (; at < text.size() && mode.size() < 3; ++at)
      if (text[at] != ' ') mode += static_cast<char>(std::tolower(byte(text[at])));
    const std::array<std::pair<const char*, int>, 7> modes{{{"lyd", 1},
                                                            {"mix", -1},
                                                            {"dor", -2},
                                                            {"min", -3},
                                                            {"aeo", -3},
                                                            {"phr", -4},
                                                            {"loc", -5}}};
    for (const auto& [name, shift] : modes)
      if (mode == name) fifths += shift;
    if (mode == "m") fifths -= 3;
    fifths = std::clamp(fifths, -7, 7);
    for (int i = 0; i < std::abs(fifths); ++i) {
      const char letter = kSharpsInOrder[fifths > 0 ? i : 6 - i];
      key_[static_cast<std::size_t>(letter - 'A')] = fifths > 0 ? 1 : -1;
    }
  }

  void body(std::string_view line) {
    line_ = line;
    at_ = 0;
    while (at_ < line_.size()) element();
  }

  bool here(char c) const { return at_ < line_.size() && line_[at_] == c; }

  void skip_to(char c) {
    const std::size_t end = line_.find(c, at_);
    at_ = end == std::string_view::npos ? line_.size() : end + 1;
  }

  void element() {
    const char c = line_[at_];
    switch (c) {
      case '"':
      case '!':
        ++at_;
        skip_to(c);
        return;
      case '{':
        skip_to('}');
        return;
      case '|':
      case ':':
        voice().accidentals.clear();
        ++at_;
        return;
      case '(':
        ++at_;
        tuplet();
        return;
      case '>':
      case '<':
        broken(c);
        return;
      case '[':
        bracket();
        return;
      default:
        break;
    }
    if (c == 'z' || c == 'x' || c == 'Z') {
      ++at_;
      pass(length());
      return;
    }
    if (const std::optional<int> pitch = note()) {
      sound({*pitch}, length());
      return;
    }
    ++at_;  // spaces, dots, ends of slurs and what else ornaments a line
  }

  /// "(3" is three in the time of two.
  void tuplet() {
    if (at_ >= line_.size() || line_[at_] < '2' || line_[at_] > '9') return;  // a slur
    const int count = line_[at_++] - '0';
    constexpr std::array<int, 10> kInTimeOf{1, 1, 3, 2, 3, 2, 2, 2, 3, 2};
    int in_time_of = kInTimeOf[static_cast<std::size_t>(count)];
    int notes = count;
    if (here(':')) {
      ++at_;
      if (at_ < line_.size() && std::isdigit(byte(line_[at_])) != 0)
        in_time_of = std::max(1, line_[at_++] - '0');
      if (here(':')) {
        ++at_;
        if (at_ < line_.size() && std::isdigit(byte(line_[at_])) != 0)
          notes = line_[at_++] - '0';
      }
    }
    voice().tuplet_left = notes;
    voice().tuplet_factor = static_cast<double>(in_time_of) / count;
  }

  /// "a>b": the first half as long again, the second half as long.
  void broken(char c) {
    int times = 0;
    for (; here(c) && times < 3; ++at_) ++times;
    while (here(c)) ++at_;
    Voice& own = voice();
    const double small = std::pow(0.5, times);
    const double before = c == '>' ? 2.0 - small : small;
    own.next_factor = 2.0 - before;
    if (own.last_length == 0) return;
    const auto changed =
        std::max<std::int64_t>(1, std::llround(static_cast<double>(own.last_length) * before));
    own.time += changed - own.last_length;
    for (const std::size_t at : own.last) {
      Note& one = music_.notes[at];
      one.length = std::max<std::int64_t>(1, one.length + changed - own.last_length);
    }
    own.last_length = 0;
  }

  /// A chord, a field within the line, or the number of an ending.
  void bracket() {
    ++at_;
    if (at_ + 1 < line_.size() && line_[at_ + 1] == ':' &&
        std::isalpha(byte(line_[at_])) != 0) {
      const std::size_t end = std::min(line_.find(']', at_), line_.size());
      const std::string_view inside = line_.substr(at_, end - at_);
      at_ = std::min(end + 1, line_.size());
      field(inside[0], inside.substr(2));
      return;
    }
    if (here('|') || (at_ < line_.size() && std::isdigit(byte(line_[at_])) != 0)) return;
    std::vector<int> pitches;
    std::optional<double> first;
    while (at_ < line_.size() && line_[at_] != ']') {
      if (const std::optional<int> pitch = note()) {
        const double long_as = length();
        if (!first) first = long_as;
        pitches.push_back(*pitch);
      } else {
        ++at_;
      }
    }
    if (at_ < line_.size()) ++at_;
    if (!pitches.empty()) sound(pitches, first.value_or(1.0) * length());
  }

  /// Accidentals, a letter and octaves; nothing where there is no note here.
  std::optional<int> note() {
    std::size_t at = at_;
    std::optional<int> accidental;
    while (at < line_.size() && (line_[at] == '^' || line_[at] == '_' || line_[at] == '=')) {
      accidental = std::clamp(accidental.value_or(0) + (line_[at] == '^'   ? 1
                                                        : line_[at] == '_' ? -1
                                                                           : 0),
                              -2, 2);
      ++at;
    }
    if (at >= line_.size()) return std::nullopt;
    const char c = line_[at];
    const char letter = static_cast<char>(std::toupper(byte(c)));
    if (letter < 'A' || letter > 'G') return std::nullopt;
    ++at;
    int octave = c == letter ? 0 : 1;
    for (; at < line_.size() && (line_[at] == '\'' || line_[at] == ','); ++at)
      octave = std::clamp(octave + (line_[at] == ',' ? -1 : 1), -5, 5);
    at_ = at;
    const int place = (letter - 'A') + 7 * octave;
    auto& bar = voice().accidentals;
    if (accidental) bar[place] = *accidental;
    const auto known = bar.find(place);
    const int shift =
        known == bar.end() ? key_[static_cast<std::size_t>(letter - 'A')] : known->second;
    const int pitch = 60 + kSteps[static_cast<std::size_t>(letter - 'A')] + 12 * octave + shift;
    return std::clamp(pitch, 0, 127);
  }

  /// "3/2", "/", "//", "": in units.
  double length() {
    double value = 1.0;
    if (at_ < line_.size() && std::isdigit(byte(line_[at_])) != 0) value = digits();
    while (here('/')) {
      ++at_;
      value /= at_ < line_.size() && std::isdigit(byte(line_[at_])) != 0 ? digits() : 2;
    }
    return value;
  }

  int digits() {
    const std::size_t begin = at_;
    while (at_ < line_.size() && std::isdigit(byte(line_[at_])) != 0) ++at_;
    return whole(line_.substr(begin, at_ - begin));
  }

  /// How many ticks units are now, in a tuplet and behind a broken rhythm too.
  std::int64_t ticks(double units) {
    Voice& own = voice();
    double factor = own.next_factor;
    own.next_factor = 1.0;
    if (own.tuplet_left > 0) {
      factor *= own.tuplet_factor;
      --own.tuplet_left;
    }
    const double count = units * factor * static_cast<double>(unit());
    if (!(count <= static_cast<double>(kMostTicks)))
      fail<FileError>(where_, ": a note is longer than ", kMostTicks / kQuarter, " quarters");
    return std::max<std::int64_t>(1, std::llround(count));
  }

  void advance(std::int64_t length) {
    Voice& own = voice();
    own.time += length;
    own.last_length = length;
    if (own.time > kMostTicks)
      fail<FileError>(where_, ": the music is longer than ", kMostTicks / kQuarter,
                      " quarters; that is not read");
  }

  void pass(double units) {
    const std::int64_t count = ticks(units);
    voice().last.clear();
    voice().tied.clear();
    advance(count);
  }

  void sound(const std::vector<int>& pitches, double units) {
    const std::int64_t count = ticks(units);
    Voice& own = voice();
    const std::vector<std::size_t> tied = std::move(own.tied);
    own.tied.clear();
    own.last.clear();
    const bool goes_on = here('-');
    if (goes_on) ++at_;
    for (const int pitch : pitches) {
      const auto same = std::find_if(tied.begin(), tied.end(), [&](std::size_t at) {
        return music_.notes[at].pitch == pitch;
      });
      std::size_t place = music_.notes.size();
      if (same != tied.end()) {
        place = *same;
        music_.notes[place].length += count;
      } else {
        if (place == kMostNotes)
          fail<FileError>(where_, ": there are more than ", kMostNotes, " notes");
        music_.notes.push_back({own.time, count, pitch});
      }
      own.last.push_back(place);
      if (goes_on) own.tied.push_back(place);
    }
    advance(count);
  }

  const std::string& where_;
  Music music_;
  std::array<int, 7> key_{};  ///< of A to G: 1 sharp, -1 flat
  double metre_ = 1.0;
  std::optional<std::int64_t> unit_;
  std::map<std::string, Voice> voices_;
  std::string current_;
  std::string_view line_;
  std::size_t at_ = 0;
};

/// Letters, with the accidentals that this bar does not have yet.
class PitchWriter {
 public:
  void bar() { known_.clear(); }

  std::string operator()(int pitch) {
    constexpr std::array<const char*, 12> kLetters{"C", "C", "D", "D", "E", "F",
                                                   "F", "G", "G", "A", "A", "B"};
    constexpr std::array<bool, 12> kSharp{false, true,  false, true,  false, false,
                                          true,  false, true,  false, true,  false};
    const auto tone = static_cast<std::size_t>(pitch % 12);
    const int octave = pitch / 12 - 5;  // 0: from middle C on
    const std::pair<char, int> place{kLetters[tone][0], octave};
    const auto before = known_.find(place);
    const bool sharp = before != known_.end() && before->second;
    std::string text;
    if (sharp != kSharp[tone]) text = kSharp[tone] ? "^" : "=";
    known_[place] = kSharp[tone];
    const char letter = kLetters[tone][0];
    text += octave > 0 ? static_cast<char>(std::tolower(static_cast<unsigned char>(letter)))
                       : letter;
    for (int i = 1; i < octave; ++i) text += '\'';
    for (int i = octave; i < 0; ++i) text += ',';
    return text;
  }

 private:
  std::map<std::pair<char, int>, bool> known_;
};

constexpr std::size_t kBarsOfALine = 4;

}  // namespace

Music read_abc(std::string_view text, const std::string& where) {
  return AbcReader(where).read(text);
}

std::string write_abc(const Steps& steps, double tempo) {
  std::string text =
      "X:1\nT:Chorale\nM:4/4\nL:1/4\nQ:1/4=" + std::to_string(std::lround(tempo)) + "\nK:C\n";
  PitchWriter pitch;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].empty()) text += "z";
    if (steps[i].size() > 1) text += "[";
    for (const int one : steps[i]) text += pitch(one);
    if (steps[i].size() > 1) text += "]";
    const std::size_t behind = i + 1;
    if (behind % 4 == 0) pitch.bar();
    const bool line = behind % (4 * kBarsOfALine) == 0;
    text += behind == steps.size() ? " |]\n" : line ? " |\n" : behind % 4 == 0 ? " | " : " ";
  }
  return text;
}

std::string write_melody(const Music& music) {
  constexpr std::int64_t kUnit = kQuarter / 2;
  std::map<std::int64_t, int> highest;  // by where it begins, in units
  for (const Note& note : music.notes) {
    const std::int64_t at = (note.begin + kUnit / 2) / kUnit;
    auto [place, fresh] = highest.emplace(at, note.pitch);
    if (!fresh) place->second = std::max(place->second, note.pitch);
  }
  std::string text = "M:4/4\nL:1/8\nK:C\n";
  PitchWriter pitch;
  std::int64_t time = 0;
  const std::int64_t end = (music.end() + kUnit / 2) / kUnit;
  const auto put = [&](const std::string& name, std::int64_t count) {
    if (count < 1) return;
    text += name + (count > 1 ? std::to_string(count) : "");
    if ((time + count) / 8 > time / 8) {
      text += " | ";
      pitch.bar();
    }
    time += count;
  };
  for (auto one = highest.begin(); one != highest.end(); ++one) {
    put("z", one->first - time);
    const auto next = std::next(one);
    put(pitch(one->second), (next == highest.end() ? end : next->first) - one->first);
  }
  return text;
}

}  // namespace attn::tasks::compose
