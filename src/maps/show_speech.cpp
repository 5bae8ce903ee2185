// Speech in a terminal: a word a line, with its times and where in the sound it looked.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/pooled.hpp"
#include "attn/maps/show.hpp"
#include "attn/maps/text_width.hpp"
#include "maps/terminal.hpp"

namespace attn::maps {
namespace {

constexpr std::size_t kWidestWord = 16;
/// A screen of words; the rest is counted.
constexpr std::size_t kMostWords = 400;

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", seconds);
  return text;
}

std::string strip(const Matrix& seen, std::size_t row, float top, Colour colour) {
  std::string text = "│";
  for (std::size_t column = 0; column < seen.columns; ++column)
    text += cell(" ", top > 0.0f ? seen.at(row, column) / top : 0.0f, colour);
  return text + "│";
}

}  // namespace

std::string show_speech(const Speech& map, std::size_t width, Colour colour) {
  if (map.words.empty() || map.weights.columns == 0) return "";
  // "  12.34-56.78 ", the word, and the strip between its ends; what has no room is left out.
  constexpr std::size_t kTimes = 16;
  constexpr std::size_t kEnds = 2;
  const bool times = width >= 2 * kTimes + kEnds;
  const std::size_t beside = width - kEnds - (times ? kTimes : 0);
  const std::size_t word = std::min(kWidestWord, beside / 2);
  const std::size_t before = word + (times ? kTimes : 0);
  const std::size_t room = beside - word;
  const Matrix seen = pooled(map.weights, map.weights.rows, room);
  const float top = top_of(map.weights);
  std::string text;
  if (map.spectrogram.rows > 0)
    text += std::string(before, ' ') +
            strip(pooled(map.spectrogram, 1, room), 0, 1.0f, colour) + "\n";
  for (std::size_t i = 0; i < map.words.size() && i < kMostWords; ++i) {
    if (times)
      text += right_in(seconds_text(map.begins[i]), 7) + "-" +
              left_in(seconds_text(map.ends[i]), 8);
    text += left_in(on_one_line(map.words[i]), word) + strip(seen, i, top, colour) + "\n";
  }
  if (map.words.size() > kMostWords)
    text += left_in("and " + std::to_string(map.words.size() - kMostWords) +
                        " more words, which are not shown",
                    width) +
            "\n";
  return text + legend(top, width, colour);
}

}  // namespace attn::maps
