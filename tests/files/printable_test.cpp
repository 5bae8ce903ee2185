// Text from outside becomes short, valid UTF-8 without control characters.

// SPDX-License-Identifier: Apache-2.0

#include "attn/files/printable.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace attn::files {
namespace {

TEST(IsUtf8, AcceptsEveryLengthOfCharacter) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("a\u00e9\u6ce8\U0001f50e"));
  EXPECT_TRUE(is_utf8("\xf4\x8f\xbf\xbf"));
}

TEST(IsUtf8, RefusesWhatTheStandardRefuses) {
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe6\xb3", "a\xc3"})
    EXPECT_FALSE(is_utf8(bad)) << printable(bad);
}

TEST(Printable, KeepsTextAndEscapesTheRest) {
  EXPECT_EQ(printable("caf\u00e9"), "caf\u00e9");
  EXPECT_EQ(printable("a\nb\x1b[2J"), "a\\x0ab\\x1b[2J");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // CSI, which terminals obey
}

TEST(Printable, CutsAtACharacter) {
  EXPECT_EQ(printable("abc\u6ce8", 4), "abc...");
  EXPECT_EQ(printable("abcd", 4), "abcd");
  EXPECT_EQ(in_quotes("abcde", 4), "\"abcd...\"");
}

RC_GTEST_PROP(Printable, IsAlwaysShortUtf8WithoutControls, (const std::string& text)) {
  const std::string out = printable(text, 50);
  RC_ASSERT(is_utf8(out));
  RC_ASSERT(out.size() <= 50 * 4 + 3);
  for (const char c : out) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace
}  // namespace attn::files
