// Captions: words with times become lines that are shown for a while.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/transcribe/transcript.hpp"

namespace attn::tasks {
namespace {

/// What broadcasters allow: two lines of 42 letters, not longer than seven seconds.
constexpr std::size_t kLine = 42;
constexpr double kLongest = 7.0;
/// A pause that ends a caption.
constexpr double kPause = 0.8;
/// Shorter than this nobody reads it; the next caption may begin earlier.
constexpr double kShortest = 0.8;

struct Caption {
  double begin = 0.0;
  double end = 0.0;
  std::vector<std::string> lines;
};

/// Letters, whatever they take in bytes.
std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

/// Words in lines, the first as full as it can be.
std::vector<std::string> in_lines(const std::vector<std::string>& words) {
  std::vector<std::string> lines;
  for (const std::string& word : words) {
    if (lines.empty() || letters(lines.back()) + 1 + letters(word) > kLine)
      lines.push_back(word);
    else
      lines.back() += " " + word;
  }
  return lines;
}

/// "Mr." and "Dr." do not.
bool ends_sentence(const std::string& word) {
  constexpr std::array<std::string_view, 8> kShort{"Mr.", "Mrs.", "Ms.",   "Dr.",
                                                   "St.", "Jr.",  "Prof.", "vs."};
  if (std::find(kShort.begin(), kShort.end(), word) != kShort.end()) return false;
  return word.ends_with('.') || word.ends_with('?') || word.ends_with('!');
}

std::vector<Caption> captions_of(const Transcript& transcript) {
  std::vector<Caption> captions;
  std::vector<std::string> words;
  std::string last;
  for (const SpokenWord& word : transcript.words()) {
    Caption* open = captions.empty() ? nullptr : &captions.back();
    std::vector<std::string> longer = words;
    longer.push_back(word.text);
    const bool goes_on = open != nullptr && !ends_sentence(last) &&
                         word.begin - open->end < kPause &&
                         word.end - open->begin <= kLongest && in_lines(longer).size() <= 2;
    if (!goes_on) {
      captions.push_back({word.begin, word.end, {}});
      words.clear();
      open = &captions.back();
    }
    words.push_back(word.text);
    last = word.text;
    open->end = std::max(open->end, word.end);
    open->lines = in_lines(words);
  }
  for (std::size_t i = 0; i < captions.size(); ++i) {
    const double next = i + 1 < captions.size() ? captions[i + 1].begin
                                                : std::max(transcript.seconds, captions[i].end);
    captions[i].end = std::min(std::max(captions[i].end, captions[i].begin + kShortest), next);
    captions[i].end = std::max(captions[i].end, captions[i].begin);
  }
  return captions;
}

/// "00:01:02,345" with the mark between seconds and their thousandths.
std::string time_text(double seconds, char mark) {
  const auto all = static_cast<std::int64_t>(std::llround(std::max(seconds, 0.0) * 1000.0));
  char text[48];
  std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld%c%03lld",
                static_cast<long long>(all / 3600000), static_cast<long long>(all / 60000 % 60),
                static_cast<long long>(all / 1000 % 60), mark,
                static_cast<long long>(all % 1000));
  return text;
}

std::string joined(const Caption& caption) {
  std::string text;
  for (const std::string& line : caption.lines) text += line + "\n";
  return text;
}

/// "<", ">" and "&" begin marks in WebVTT.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string Transcript::text() const {
  std::string all;
  for (const SpokenSegment& segment : segments) {
    if (segment.text.empty()) continue;
    all += (all.empty() ? "" : " ") + segment.text;
  }
  return all;
}

std::vector<SpokenWord> Transcript::words() const {
  std::vector<SpokenWord> all;
  for (const SpokenSegment& segment : segments)
    all.insert(all.end(), segment.words.begin(), segment.words.end());
  return all;
}

std::string to_srt(const Transcript& transcript) {
  std::string text;
  std::size_t number = 0;
  for (const Caption& caption : captions_of(transcript))
    text += std::to_string(++number) + "\n" + time_text(caption.begin, ',') + " --> " +
            time_text(caption.end, ',') + "\n" + joined(caption) + "\n";
  return text;
}

std::string to_vtt(const Transcript& transcript) {
  std::string text = "WEBVTT\n\n";
  for (const Caption& caption : captions_of(transcript))
    text += time_text(caption.begin, '.') + " --> " + time_text(caption.end, '.') + "\n" +
            escaped(joined(caption)) + "\n";
  return text;
}

}  // namespace attn::tasks
