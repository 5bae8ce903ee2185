// Maps in the terminal fit their columns, with and without colour, whatever the labels say.

#include "attn/maps/show.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/text_width.hpp"
#include "maps/support/examples.hpp"

namespace attn::maps {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  EXPECT_TRUE(lines.back().empty()) << "the last line is ended";
  lines.pop_back();
  return lines;
}

/// Without escape sequences of colours.
std::string plain(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      result += text[i];
    }
  }
  return result;
}

TEST(Show, AMatrixHasAShadeAtEveryCell) {
  const Alignment map{"T",
                      "C",
                      {"x", "yy"},
                      {"a", "b", "c"},
                      "",
                      "",
                      {2, 3, {1.0f, 0.0f, 0.5f, 0.25f, 0.75f, 0.0f}}};
  const auto lines = lines_of(show(map, 80));
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "T");
  EXPECT_EQ(lines[1], "   a  b  c");
  EXPECT_EQ(lines[2], " x ███   ▒▒▒");
  EXPECT_EQ(lines[3], "yy ░░░▓▓▓");
  EXPECT_EQ(lines[4], "blank 0  ░░ 0.25  ▒▒ 0.5  ▓▓ 0.75  ██ 1");
  EXPECT_EQ(lines[5], "C");
}

TEST(Show, ColourPrintsTheNumbersOnTheColoursOfTheScale) {
  const Alignment map{"", "", {"x"}, {"a", "b"}, "", "", {1, 2, {0.8f, 0.2f}}};
  const std::string text = show(map, 80, Colour::full);
  EXPECT_NE(text.find("\x1b[48;2;"), std::string::npos);
  EXPECT_EQ(lines_of(plain(text))[1], "x  80  20 ");
}

TEST(Show, EveryKindFitsItsColumns) {
  for (const Map& map : every_example())
    for (const std::size_t width : {20u, 33u, 80u, 200u})
      for (const Colour colour : {Colour::none, Colour::full})
        for (const std::string& line : lines_of(plain(show(map, width, colour))))
          EXPECT_LE(width_of(line), width) << line;
}

TEST(Show, ArcsStandBesideTheirWords) {
  const Arcs map{"",
                 "",
                 {"The", "cat", "sat"},
                 {"DET", "NOUN", "VERB"},
                 {{2, 1, "det"}, {3, 2, "nsubj"}, {0, 3, "root"}}};
  const auto lines = lines_of(show(map, 60));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "The DET  det   ◀─┐");
  EXPECT_EQ(lines[1], "cat NOUN nsubj ◀─┤");
  EXPECT_EQ(lines[2], "sat VERB root   ─┘");
}

TEST(Show, LargeMatricesArePooledAndSayIt) {
  Alignment map;
  map.rows.assign(2000, "row");
  map.columns.assign(2000, "column");
  map.weights = {2000, 2000, std::vector<float>(4000000)};
  map.weights.values[1999 * 2000] = 0.9f;  // the corner at the lower left
  const auto lines = lines_of(show(map, 80));
  EXPECT_LT(lines.size(), 80u);
  bool said = false;
  std::size_t dark = 0;
  for (const std::string& line : lines) {
    EXPECT_LE(width_of(line), 80u);
    said = said || line.find("largest of 2000 × 2000") != std::string::npos;
    if (line.find("–2000 █") != std::string::npos) ++dark;
  }
  EXPECT_TRUE(said);
  EXPECT_EQ(dark, 1u) << "one strong weight stays visible";
}

TEST(Show, HostileLabelsCannotSpeakToTheTerminal) {
  Alignment map = alignment_example();
  map.rows[0] = "\x1b[2J\x07";
  map.columns[1] = "a\nb";
  map.title = "\x1b]0;title\x07";
  map.caption = "\u202eevil";
  const std::string text = show(map, 60);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_EQ(text.find("\u202e"), std::string::npos);
}

TEST(Show, EmptyMapsSaySo) {
  for (const Map& map : every_empty()) EXPECT_NE(show(map), "") << map.index();
  EXPECT_NE(show(Alignment{}).find("nothing to show"), std::string::npos);
  EXPECT_NE(show(Training{}).find("nothing to show"), std::string::npos);
}

TEST(Show, AMapThatContradictsItselfIsRefused) {
  Alignment map = alignment_example();
  map.rows.pop_back();
  EXPECT_THROW((void)show(map), InvalidArgument);
}

}  // namespace
}  // namespace attn::maps
