// Text is measured, cut and broken by what a terminal shows.

#include "attn/maps/text_width.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace attn::maps {
namespace {

TEST(TextWidth, CountsWhatATerminalShows) {
  EXPECT_EQ(width_of(""), 0u);
  EXPECT_EQ(width_of("web"), 3u);
  EXPECT_EQ(width_of("世界"), 4u);
  EXPECT_EQ(width_of("e\u0301le\u0300ve"), 5u);
  EXPECT_EQ(width_of("שלום"), 4u);
  EXPECT_EQ(width_of("🎉"), 2u);
  EXPECT_EQ(width_of("👩\u200d👩\u200d👧"), 2u) << "a family is one picture";
  EXPECT_EQ(width_of("▁the"), 4u);
}

TEST(TextWidth, CutsAtACharacterAndSaysSo) {
  EXPECT_EQ(cut_to("server", 6), "server");
  EXPECT_EQ(cut_to("server", 4), "ser…");
  EXPECT_EQ(cut_to("世界地図", 4), "世…") << "a wide letter does not fit into one column";
  EXPECT_EQ(cut_to("e\u0301e\u0301e\u0301", 2), "e\u0301…");
  EXPECT_EQ(cut_to("server", 0), "");
  EXPECT_EQ(shortened("e\u0301e\u0301e\u0301", 2), "e\u0301…");
}

TEST(TextWidth, OneLineHasNoControls) {
  EXPECT_EQ(on_one_line("a\nb\tc\x1b[31m"), "a b c [31m");
  EXPECT_EQ(on_one_line("a\u202eb\u2066c"), "abc") << "nothing turns the line around";
  EXPECT_EQ(on_one_line("a\u2028b"), "a b");
  EXPECT_EQ(on_one_line("\xff"), "\ufffd");
}

TEST(TextWidth, LinesAreBrokenAtSpacesAndLongWordsAnywhere) {
  EXPECT_EQ(wrapped("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("abcdefgh", 3), (std::vector<std::string>{"abc", "def", "gh"}));
  EXPECT_EQ(wrapped("世界地図", 5), (std::vector<std::string>{"世界", "地図"}));
  EXPECT_TRUE(wrapped("  ", 5).empty());
}

TEST(TextWidth, NoLineOfAnyScriptIsWiderThanAsked) {
  const std::vector<std::string> words{"web",  "世界",   "e\u0301le\u0300ve",
                                       "שלום", "🎉",     "👩\u200d👩\u200d👧",
                                       "नमस्ते", "한국어", "ｗｉｄｅ"};
  test::Random random("wrapped");
  for (int i = 0; i < 500; ++i) {
    std::string line;
    for (int j = random.whole(1, 12); j > 0; --j)
      line += words[static_cast<std::size_t>(random.whole(0, 8))] +
              (random.whole(0, 1) == 0 ? " " : "");
    for (const std::string& part : wrapped(line, 11)) EXPECT_LE(width_of(part), 11u) << part;
    EXPECT_LE(width_of(cut_to(line, 9)), 9u);
  }
}

}  // namespace
}  // namespace attn::maps
