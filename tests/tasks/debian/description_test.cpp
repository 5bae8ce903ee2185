#include "tasks/debian/description.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace attn::tasks {
namespace {

using Paragraphs = std::vector<Paragraph>;

TEST(Description, ParagraphsAreCutIntoProseAndItems) {
  EXPECT_EQ(paragraphs_of(" One line\n and the next.\n .\n List:\n  * first\n    goes on\n"
                          "  - second\n   o third\n After it."),
            (Paragraphs{{"One line and the next."},
                        {"List:", "* first goes on", "- second", "o third", "After it."}}));
}

TEST(Description, LinesKeptAsTheyAreStandForThemselves) {
  EXPECT_EQ(paragraphs_of(" See:\n  a   b\n  c\n"), (Paragraphs{{"See:", "a b", "c"}}));
  EXPECT_EQ(paragraphs_of(" * at the edge\n * again\n - no bullet here\n"),
            (Paragraphs{{"* at the edge", "* again", "- no bullet here"}}));
}

TEST(Description, EmptyAndForeignLinesDoNoHarm) {
  EXPECT_EQ(paragraphs_of(""), Paragraphs{});
  EXPECT_EQ(paragraphs_of(" .\n .\n"), Paragraphs{});
  EXPECT_EQ(paragraphs_of(" a\r\n .\r\n b\r\n"), (Paragraphs{{"a"}, {"b"}}));
  EXPECT_EQ(paragraphs_of(" a\n .\n .\n b"), (Paragraphs{{"a"}, {"b"}}));
}

TEST(Description, BulletsAreTakenOff) {
  EXPECT_EQ(without_bullet("* item"), "item");
  EXPECT_EQ(without_bullet("• item"), "item");
  EXPECT_EQ(without_bullet("other"), "other");
  EXPECT_EQ(without_bullet("often said"), "often said");
}

TEST(Description, SentencesEndBeforeCapitalsButNotBehindAbbreviations) {
  using S = std::vector<std::string>;
  EXPECT_EQ(sentences_of("It is fast. It is small! Is it? Yes"),
            (S{"It is fast.", "It is small!", "Is it?", "Yes"}));
  EXPECT_EQ(sentences_of("For e.g. Debian and others. More."),
            (S{"For e.g. Debian and others.", "More."}));
  EXPECT_EQ(sentences_of("Written by J. Smith in 500 B.C. The end of v1.2 is near."),
            (S{"Written by J. Smith in 500 B.C. The end of v1.2 is near."}));
  EXPECT_EQ(sentences_of("Uno. È due."), (S{"Uno.", "È due."}));
  EXPECT_EQ(sentences_of(""), S{});
}

TEST(Description, SentencesJoinedAreTheText) {
  for (const std::string text :
       {"A. B. C", "one. Two! 3? \"Four.\" (Five.) six", ". . .", "x", "! ?"}) {
    std::string joined;
    for (const std::string& sentence : sentences_of(text))
      joined += (joined.empty() ? "" : " ") + sentence;
    EXPECT_EQ(joined, text);
  }
}

TEST(Description, WordsAreCountedBetweenSpaces) {
  EXPECT_EQ(word_count(""), 0);
  EXPECT_EQ(word_count("  a b\tc "), 3);
  EXPECT_EQ(one_line("  a  b\t\nc "), "a b c");
}

}  // namespace
}  // namespace attn::tasks
