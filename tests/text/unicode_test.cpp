// Normal form, small letters and words follow Unicode, in linear time.

#include "attn/text/unicode.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "support/random.hpp"
#include "text/scripts.hpp"

namespace attn::text {
namespace {

TEST(Normalise, IsUnicodesCompatibilityForm) {
  EXPECT_EQ(normalise("ﬁne Ａｔｔｎ ①"), "fine Attn 1");
  EXPECT_EQ(normalise("e\u0301"), "é");
  EXPECT_EQ(normalise("\u1112\u1161\u11ab"), "한");
  EXPECT_EQ(normalise("q\u0307\u0323"), "q\u0323\u0307");  // marks in canonical order
  EXPECT_EQ(normalise("\u0958"), "\u0915\u093c");          // excluded from composition
}

TEST(Normalise, RunsOfWhiteSpaceBecomeOneSpaceAndNoneIsLeftAtTheEnds) {
  EXPECT_EQ(normalise(" a \t\r\n b\u00a0\u3000\u2028c\u200a"), "a b c");
  EXPECT_EQ(normalise(" \n"), "");
  EXPECT_EQ(normalise(""), "");
  EXPECT_EQ(normalise("a\u200bb"), "a\u200bb") << "a joiner is no white space";
}

TEST(Normalise, TwiceIsOnce) {
  test::Random random("twice");
  const auto words = lexicon(random, 300);
  for (int i = 0; i < 3000; ++i) {
    const std::string once = normalise(random_line(random, words, 0.5));
    ASSERT_EQ(normalise(once), once);
    ASSERT_TRUE(files::is_utf8(once));
  }
}

TEST(Normalise, AMegabyteOfMarksTakesNoTime) {
  std::string marks;
  while (marks.size() < 1000000) marks += "\u0301\u0323";
  const auto begin = std::chrono::steady_clock::now();
  const std::string sorted = normalise(marks);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_TRUE(sorted.starts_with("\u0323\u0323"));
  EXPECT_TRUE(sorted.ends_with("\u0301\u0301"));
}

TEST(Normalise, WhatIsNotUtf8IsRefusedWithItsPlace) {
  for (const std::string_view bad :
       {"ab\xff", "ab\xc3", "ab\xed\xa0\x80", "ab\xc0\xaf", "ab\xf4\x90\x80\x80"}) {
    EXPECT_FALSE(files::is_utf8(bad));
    try {
      (void)normalise(bad);
      ADD_FAILURE() << "accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("byte 3 of"), std::string::npos) << error.what();
    }
    EXPECT_THROW((void)code_points(bad), InvalidArgument);
  }
}

TEST(CodePoints, GoThereAndBack) {
  const std::string text = "aé日🎉";
  EXPECT_EQ(code_points(text), U"aé日🎉");
  EXPECT_EQ(to_utf8(code_points(text)), text);
  EXPECT_THROW((void)to_utf8(U"\x110000"), InvalidArgument);
  EXPECT_THROW((void)to_utf8(std::u32string(1, 0xd800)), InvalidArgument);
}

TEST(Lower, FollowsUnicode) {
  EXPECT_EQ(lower("ABC ÉÀ ЖУК ẞ"), "abc éà жук ß");
  EXPECT_EQ(lower("İ"), "i\u0307");
}

TEST(Lower, SigmaHasItsFormAtTheEndOfAWord) {
  EXPECT_EQ(lower("ΟΔΥΣΣΕΥΣ"), "οδυσσευς");
  EXPECT_EQ(lower("ΑΣ' ΑΣ."), "ας' ας.");
  EXPECT_EQ(lower("Α'Σ"), "α'ς");
  EXPECT_EQ(lower("Σ"), "σ");
  EXPECT_EQ(lower("ΑΣ'Α"), "ασ'α");
}

TEST(SplitWords, CutsAtWhiteSpaceOfEveryKind) {
  const std::string text =
      "\u3000a b\x1f"
      "c\u2003";
  EXPECT_EQ(split_words(text), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_TRUE(split_words("  ").empty());
}

}  // namespace
}  // namespace attn::text
