#include "tasks/parse/split.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/text/unicode.hpp"
#include "tasks/parse/sentence.hpp"

namespace attn::tasks::parse {
namespace {

using Text = std::u32string;
using View = std::u32string_view;

bool is_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}
bool is_capital(char32_t c) {
  return (c >= U'A' && c <= U'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7);
}
/// What words are made of, in every script.
bool is_letter(char32_t c) {
  return (c >= U'a' && c <= U'z') || is_capital(c) ||
         (c >= 0xAA && c != 0xAB && c != 0xB7 && c != 0xBB && c != 0xD7 && c != 0xF7 &&
          !(c >= 0x2000 && c <= 0x206F) && !(c >= 0x3000 && c <= 0x303F) &&
          !(c >= 0xFF00 && c <= 0xFF0F));
}
bool is_word(char32_t c) {
  return is_letter(c) || is_digit(c);
}
bool is_apostrophe(char32_t c) {
  return c == U'\'' || c == U'’';
}
bool is_one_of(char32_t c, View set) {
  return set.find(c) != View::npos;
}

Text small(View text) {
  Text low(text);
  for (char32_t& c : low)
    if (c >= U'A' && c <= U'Z') c += U'a' - U'A';
  return low;
}

template <std::size_t kCount>
bool is_in(const std::array<View, kCount>& list, View word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// They keep their full stop and end no sentence.
constexpr std::array<View, 57> kTitles{
    U"mr.",   U"mrs.",  U"ms.",  U"dr.",     U"st.",   U"prof.",  U"gen.",  U"col.", U"lt.",
    U"sgt.",  U"capt.", U"rev.", U"hon.",    U"sen.",  U"rep.",   U"reps.", U"gov.", U"pres.",
    U"vs.",   U"i.e.",  U"e.g.", U"ft.",     U"mt.",   U"no.",    U"vol.",  U"sec.", U"fig.",
    U"attn.", U"cf.",   U"al.",  U"approx.", U"ave.",  U"blvd.",  U"rd.",   U"jan.", U"feb.",
    U"mar.",  U"apr.",  U"aug.", U"sept.",   U"sep.",  U"oct.",   U"nov.",  U"dec.", U"mon.",
    U"tue.",  U"tues.", U"wed.", U"thu.",    U"thur.", U"thurs.", U"fri.",  U"sat.", U"ext.",
    U"dept.", U"univ.", U"est."};
/// They keep it and may end one.
constexpr std::array<View, 10> kShort{U"inc.", U"corp.", U"co.",  U"ltd.",  U"jr.",
                                      U"sr.",  U"etc.",  U"esq.", U"bros.", U"p.s."};
/// Parts before a hyphen that are not words of their own.
constexpr std::array<View, 26> kPrefixes{
    U"e",   U"co",    U"non",  U"pre", U"post", U"anti",  U"pro",     U"re",   U"ex",
    U"mid", U"multi", U"semi", U"un",  U"sub",  U"inter", U"intra",   U"over", U"under",
    U"neo", U"micro", U"mini", U"bi",  U"de",   U"ultra", U"counter", U"trans"};
constexpr std::array<View, 7> kEndings{U"s", U"re", U"ve", U"ll", U"d", U"m", U"t"};

/// Two words that are written in one, without a sign between.
struct Joined {
  View whole;
  std::size_t first;  ///< characters of the first
};
constexpr std::array<Joined, 22> kJoined{
    {{U"cannot", 3}, {U"gonna", 3},   {U"wanna", 3},   {U"gotta", 3},    {U"gimme", 3},
     {U"lemme", 3},  {U"dont", 2},    {U"doesnt", 4},  {U"didnt", 3},    {U"cant", 2},
     {U"wont", 2},   {U"isnt", 2},    {U"wasnt", 3},   {U"arent", 3},    {U"havent", 4},
     {U"hasnt", 3},  {U"couldnt", 5}, {U"wouldnt", 5}, {U"shouldnt", 6}, {U"werent", 4},
     {U"hadnt", 3},  {U"aint", 2}}};

constexpr View kOpening = U"([{<\"“‘«¿¡`#$£€¥*~_=+|>";
constexpr View kClosing = U")]}>\"”’»,;:!?.…%'*~_=+|<";
constexpr View kEnds = U".!?…";

bool is_address(View chunk) {
  const Text low = small(chunk);
  if (low.find(U"://") != Text::npos || low.starts_with(U"www.")) return true;
  const std::size_t at = low.find(U'@');
  return at != Text::npos && at > 0 && at + 1 < low.size() && is_word(low[at + 1]);
}

/// The sign at the front or at the back, with those it makes one token with: "...", "!!!".
std::size_t run_at(View text, std::size_t begin) {
  std::size_t end = begin + 1;
  const char32_t c = text[begin];
  const bool mixes = c == U'!' || c == U'?';
  const bool repeats = is_one_of(c, U".-–—*_=~<>'+#|");
  while (end < text.size() &&
         ((mixes && (text[end] == U'!' || text[end] == U'?')) || (repeats && text[end] == c)))
    ++end;
  return end;
}

/// A letter or two, a full stop, again: "U.S.", "p.m.", "J.".
bool is_initials(View word) {
  if (word.size() < 2 || word.back() != U'.') return false;
  std::size_t letters = 0;
  for (const char32_t c : word) {
    letters = c == U'.' ? 0 : letters + 1;
    if (letters > 1 || (c != U'.' && !is_letter(c))) return false;
  }
  return word.front() != U'.' && (word.size() > 2 || is_capital(word.front()));
}

bool keeps_stop(View word) {
  if (word.size() < 2 || word.back() != U'.') return false;
  const Text low = small(word);
  return is_in(kTitles, View(low)) || is_in(kShort, View(low)) || is_initials(word) ||
         low == U"ph.d.";
}

constexpr std::array<View, 12> kFaces{U":)", U":(", U";)", U":-)", U":-(", U";-)",
                                      U"=)", U":D", U":P", U":/",  U"^_^", U"<3"};

/// The words of what stands between spaces, and which of them were written in one.
class Chunk {
 public:
  explicit Chunk(View text) {
    if (is_in(kFaces, text)) {
      put(text);
    } else {
      peel(text);
    }
  }

  std::vector<Word> words;
  std::vector<Range> ranges;  ///< counted within the chunk

 private:
  void put(View form) {
    if (!form.empty()) words.push_back({.form = text::to_utf8(form), .space_after = false});
  }

  /// Signs at both ends are tokens of their own.
  void peel(View text) {
    while (!text.empty() && !is_word(text.front())) {
      if (is_apostrophe(text.front()) && text.size() > 2 && is_digit(text[1])) break;  // '72
      if (text.front() == U'@' ||
          (text.size() > 1 && text.front() == U'.' && is_digit(text[1])))
        break;
      if ((text.front() == U'-' || text.front() == U'+') && text.size() > 1 &&
          is_digit(text[1]))
        break;
      const std::size_t end = run_at(text, 0);
      put(text.substr(0, end));
      text.remove_prefix(end);
    }
    std::vector<View> behind;
    const bool address = is_address(text);
    while (!text.empty() && is_one_of(text.back(), kClosing)) {
      if (!address && keeps_stop(text)) break;
      if (address && is_one_of(text.back(), U"_=+%~")) break;
      std::size_t begin = text.size() - 1;
      while (begin > 0 && run_at(text, begin - 1) == text.size() &&
             is_one_of(text[begin - 1], kClosing))
        --begin;
      behind.push_back(text.substr(begin));
      text.remove_suffix(text.size() - begin);
    }
    if (address) {
      put(text);
    } else {
      cut(text);
    }
    for (auto sign = behind.rbegin(); sign != behind.rend(); ++sign) put(*sign);
  }

  /// At signs between letters.
  void cut(View text) {
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
      const View before = text.substr(0, i);
      if (!parts_at(text, i)) continue;
      const std::size_t end = run_at(text, i);
      if (end == text.size()) break;
      contraction(before);
      put(text.substr(i, end - i));
      return peel(text.substr(end));
    }
    contraction(text);
  }

  static bool parts_at(View text, std::size_t i) {
    const char32_t c = text[i];
    const bool digits = is_digit(text[i - 1]) && is_digit(text[i + 1]);
    switch (c) {
      case U'-': {
        const bool all_digits = std::all_of(text.begin(), text.end(), [](char32_t one) {
          return is_digit(one) || one == U'-';
        });
        if (all_digits) return text.size() < 7;  // longer: a telephone number
        return !is_in(kPrefixes, View(small(text.substr(0, i))));
      }
      case U'/':
        return !digits && i > 1;
      case U',':
      case U':':
        return !digits;
      case U'.':
        return text[i + 1] == U'.';
      default:
        return is_one_of(c, U"–—()[]{}\"“”…!?;=*<>~|+");
    }
  }

  /// "don't" is do and n't; "it's" is it and 's.
  void contraction(View text) {
    const Text low = small(text);
    // 5pm, 10km: a number and its unit are two words, which nobody writes in one.
    if (!text.empty() && is_digit(text.front())) {
      const std::size_t unit = low.find_first_not_of(U"0123456789.:,");
      if (unit != Text::npos && is_in(kUnits, View(low).substr(unit))) {
        put(text.substr(0, unit));
        put(text.substr(unit));
        return;
      }
    }
    std::size_t first = text.size();
    if (low.size() > 3 && low.ends_with(U't') && is_apostrophe(low[low.size() - 2]) &&
        low[low.size() - 3] == U'n') {
      first = low.size() - 3;
    } else if (const std::size_t at = low.find_last_of(U"'’");
               at != Text::npos && at > 0 && is_in(kEndings, View(low).substr(at + 1)) &&
               low.substr(at + 1) != U"t") {
      first = at;
    }
    for (const Joined& one : kJoined)
      if (low == one.whole) first = one.first;
    const std::size_t before = words.size();
    put(text.substr(0, first));
    put(text.substr(first));
    if (words.size() < before + 2) return;
    ranges.push_back({.first = static_cast<std::int64_t>(before) + 1,
                      .last = static_cast<std::int64_t>(before) + 2,
                      .form = text::to_utf8(text),
                      .space_after = false});
  }

  static constexpr std::array<View, 12> kUnits{U"am", U"pm",  U"km", U"kg", U"mm",  U"cm",
                                               U"lb", U"lbs", U"mb", U"gb", U"mph", U"ft"};
};

/// Whether a sentence ends behind this word, where a new one could begin.
bool ends_sentence(const Word& word, View next) {
  const Text form = text::code_points(word.form);
  const bool stop = is_one_of(form.back(), kEnds) && !is_word(form.front());
  const bool abbreviation = !stop && keeps_stop(form);
  if (!stop && !abbreviation) return false;
  std::size_t at = 0;
  while (at < next.size() && is_one_of(next[at], U"\"“‘'([¿¡")) ++at;
  if (at == next.size()) return !abbreviation;
  const bool begins =
      is_capital(next[at]) || is_digit(next[at]) || (is_letter(next[at]) && next[at] >= 0x250);
  if (abbreviation) {
    // "Inc. The", but "Mr. Smith" and "J. Smith"; nobody can tell "U.S. The" from "U.S. Army".
    const Text low = small(form);
    return begins && is_in(kShort, View(low));
  }
  return begins;
}

bool closes(const std::string& form) {
  return form == "\"" || form == "”" || form == "’" || form == ")" || form == "]" ||
         form == "'" || form == "''";
}

/// Between spaces; an empty view is a blank line.
std::vector<View> chunks_of(View text) {
  std::vector<View> chunks;
  std::size_t lines = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && !text::is_space(text[i])) continue;
    if (i > begin) {
      if (lines > 1 && !chunks.empty()) chunks.emplace_back();
      lines = 0;
      chunks.push_back(text.substr(begin, i - begin));
    }
    if (i < text.size() && text[i] == U'\n') ++lines;
    begin = i + 1;
  }
  return chunks;
}

/// Gathers words into sentences.
class Splitter {
 public:
  explicit Splitter(std::size_t most) : most_(most) {}

  void add(View text) {
    Chunk chunk(text);
    const auto count = static_cast<std::int64_t>(now_.words.size());
    if (chunk.words.empty()) return;
    for (Range& range : chunk.ranges) {
      range.first += count;
      range.last += count;
      range.space_after = range.last == count + static_cast<std::int64_t>(chunk.words.size());
      now_.ranges.push_back(std::move(range));
    }
    chunk.words.back().space_after = true;
    std::move(chunk.words.begin(), chunk.words.end(), std::back_inserter(now_.words));
    while (now_.words.size() > most_) cut();
  }

  bool ends_before(View next) const {
    std::size_t last = now_.words.size();
    while (last > 0 && closes(now_.words[last - 1].form)) --last;
    return last > 0 && ends_sentence(now_.words[last - 1], next);
  }

  void end() {
    if (!now_.words.empty()) sentences_.push_back(std::exchange(now_, {}));
  }

  std::vector<Sentence> all() && { return std::move(sentences_); }

 private:
  /// The first `most` words at the most become a sentence.
  void cut() {
    std::size_t at = most_;
    for (std::size_t i = most_; i > most_ / 2; --i) {
      const std::string& form = now_.words[i - 1].form;
      if (form == "," || form == ";" || form == ":" || form == "—" || form == "--") {
        at = i;
        break;
      }
    }
    for (const Range& range : now_.ranges)
      if (range.first <= static_cast<std::int64_t>(at) &&
          range.last > static_cast<std::int64_t>(at))
        at = static_cast<std::size_t>(range.first) - 1;
    const auto words = now_.words.begin() + static_cast<std::ptrdiff_t>(at);
    const auto ranges = std::find_if(
        now_.ranges.begin(), now_.ranges.end(),
        [&](const Range& range) { return range.first > static_cast<std::int64_t>(at); });
    Sentence rest{{}, {words, now_.words.end()}, {ranges, now_.ranges.end()}};
    for (Range& range : rest.ranges) {
      range.first -= static_cast<std::int64_t>(at);
      range.last -= static_cast<std::int64_t>(at);
    }
    now_.words.erase(words, now_.words.end());
    now_.ranges.erase(ranges, now_.ranges.end());
    end();
    now_ = std::move(rest);
  }

  std::size_t most_;
  Sentence now_;
  std::vector<Sentence> sentences_;
};

}  // namespace

std::vector<Sentence> split_text(std::string_view text, std::size_t most) {
  const Text points = text::code_points(text);
  Splitter splitter(most);
  for (const View chunk : chunks_of(points)) {
    if (chunk.empty() || splitter.ends_before(chunk)) splitter.end();
    if (!chunk.empty()) splitter.add(chunk);
  }
  splitter.end();
  return std::move(splitter).all();
}

}  // namespace attn::tasks::parse
