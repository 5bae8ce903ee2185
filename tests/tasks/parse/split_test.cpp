// Raw English is split into sentences and words as the treebanks do.

#include "tasks/parse/split.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "attn/text/unicode.hpp"
#include "tasks/parse/conllu.hpp"
#include "tasks/parse/sentence.hpp"

namespace attn::tasks::parse {
namespace {

/// Words between spaces, sentences between bars.
std::string split(const std::string& text, std::size_t most = 256) {
  std::string result;
  for (const Sentence& sentence : split_text(text, most)) {
    if (!result.empty()) result += " |";
    for (const Word& word : sentence.words) result += (result.empty() ? "" : " ") + word.form;
  }
  return result;
}

TEST(SplitText, PartsSignsFromWords) {
  EXPECT_EQ(split("The cat sat on the mat."), "The cat sat on the mat .");
  EXPECT_EQ(split("\"Well,\" (she said) -- 'no'!"), "\" Well , \" ( she said ) -- ' no ' !");
  EXPECT_EQ(split("Wait... what?! No!!!"), "Wait ... what ?! | No !!!");
  EXPECT_EQ(split("$5.50 or 20%, #3"), "$ 5.50 or 20 % , # 3");
  EXPECT_EQ(split("one;two, three:four"), "one ; two , three : four");
}

TEST(SplitText, PartsContractions) {
  EXPECT_EQ(split("I don't think she'll come"), "I do n't think she 'll come");
  EXPECT_EQ(split("It's John's; we've, they're, I'm, he'd"),
            "It 's John 's ; we 've , they 're , I 'm , he 'd");
  EXPECT_EQ(split("can't won’t cannot gonna dont"), "ca n't wo n’t can not gon na do nt");
  EXPECT_EQ(split("the dogs' o'clock O'Connell '72"), "the dogs ' o'clock O'Connell '72");
}

TEST(SplitText, KnowsHyphensSlashesAndNumbers) {
  EXPECT_EQ(split("a 15-year well-known e-mail"), "a 15 - year well - known e-mail");
  EXPECT_EQ(split("713-853-3989 and/or 9/11 at 10:30"), "713-853-3989 and / or 9/11 at 10:30");
  EXPECT_EQ(split("1,200 of 3.5km at 5pm"), "1,200 of 3.5 km at 5 pm");
  EXPECT_EQ(split("non-commercial 20-30"), "non-commercial 20 - 30");
}

TEST(SplitText, KeepsAddressesAndAbbreviations) {
  EXPECT_EQ(split("see http://a.org/b?c=1, or me@a.org."),
            "see http://a.org/b?c=1 , or me@a.org .");
  EXPECT_EQ(split("Mr. Smith of the U.S. left at 5 p.m. today."),
            "Mr. Smith of the U.S. left at 5 p.m. today .");
  EXPECT_EQ(split("i.e. J. K. Rowling, etc."), "i.e. J. K. Rowling , etc.");
}

TEST(SplitText, FindsSentences) {
  EXPECT_EQ(split("We came. They left! Who? me"), "We came . | They left ! | Who ? me");
  EXPECT_EQ(split("\"Go.\" He went."), "\" Go . \" | He went .");
  EXPECT_EQ(split("Acme Inc. The end"), "Acme Inc. | The end");
  EXPECT_EQ(split("one\ntwo\n\nthree"), "one two | three");
  EXPECT_EQ(split(" \n\t "), "");
}

TEST(SplitText, ForgetsNothing) {
  for (const char* text :
       {"I don't (really!) think, Mr. O'Neil-Smith's 5pm; \"e-mail\"...", ":) =( 100%?!",
        "«Été» naïve—dash…end", "'''", "a'b'c -- --x", "你好。世界", "@@ .5 -3 +7 $-1"}) {
    std::string joined;
    for (const Sentence& sentence : split_text(text, 256))
      for (const Word& word : sentence.words) {
        EXPECT_FALSE(word.form.empty()) << text;
        joined += word.form;
      }
    std::string wanted;
    for (const auto part : text::split_words(text)) wanted += part;
    EXPECT_EQ(joined, wanted);
  }
  const std::vector<Sentence> one = split_text("I don't think (so).", 256);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(text_of(one.front()), "I don't think (so).");
}

TEST(SplitText, CutsWhatHasNoEnd) {
  std::string text;
  for (int i = 0; i < 10000; ++i) text += "word ";
  std::size_t words = 0;
  for (const Sentence& sentence : split_text(text, 256)) {
    EXPECT_LE(sentence.words.size(), 256u);
    words += sentence.words.size();
  }
  EXPECT_EQ(words, 10000u);
  EXPECT_EQ(split("a b c, d e", 4), "a b c , | d e");
  // Words that were written in one stay in one sentence.
  for (const Sentence& sentence : split_text("a b don't c isn't", 3))
    for (const Range& range : sentence.ranges) {
      EXPECT_GE(range.first, 1);
      EXPECT_LE(static_cast<std::size_t>(range.last), sentence.words.size());
    }
}

}  // namespace
}  // namespace attn::tasks::parse
