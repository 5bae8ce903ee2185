// Lines of the pages that commands write: none is too long, and no word is lost.

#include "tools/attn/wrap.hpp"

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

namespace attn::tools {
namespace {

TEST(Wrap, FillsLinesUpToTheColumn) {
  EXPECT_EQ(wrap("one two three four", "", "", 9), "one two\nthree\nfour");
  EXPECT_EQ(wrap("one two three four", "", "", 13), "one two three\nfour");
  EXPECT_EQ(wrap("one two", "- ", "  ", 6), "- one\n  two");
}

TEST(Wrap, CountsCharactersNotBytes) {
  EXPECT_EQ(wrap("è è è", "", "", 5), "è è è");
  EXPECT_EQ(wrap("è è è", "", "", 4), "è è\nè");
}

TEST(Wrap, LeavesALongWordWhole) {
  EXPECT_EQ(wrap("a internationalization b", "", "", 6), "a\ninternationalization\nb");
  EXPECT_EQ(wrap("", "- ", "", 6), "- ");
}

}  // namespace
}  // namespace attn::tools
