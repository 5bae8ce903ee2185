#include "attn/tasks/transcribe/word_errors.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/tolerance.hpp"

namespace attn::tasks {
namespace {

TEST(WordErrors, CompareWordsAlone) {
  EXPECT_EQ(spoken_words("Don\xE2\x80\x99t, ill-fed  O'Neil! '' 3 caf\xC3\xA9s."),
            (std::vector<std::string>{"don't", "ill", "fed", "o'neil", "3", "caf\xC3\xA9s"}));
  EXPECT_TRUE(spoken_words(" - ,. ").empty());
}

TEST(WordErrors, AddUpOverTexts) {
  WordErrors errors;
  EXPECT_EQ(errors.rate(), 0.0);
  errors.add("He was not an ill disposed young man", "he was not an ill-sposed young man.");
  errors.add("Yes.", "yes yes");
  EXPECT_EQ(errors.edits, 2);
  EXPECT_EQ(errors.words, 9);
  EXPECT_NEAR(errors.rate(), 200.0 / 9.0, test::kDouble * 100);
  WordErrors of_nothing;
  of_nothing.add("", "hallucinated");
  EXPECT_EQ(of_nothing.rate(), 100.0);
}

}  // namespace
}  // namespace attn::tasks
