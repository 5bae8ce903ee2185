// The pronouncing dictionary as examples.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/text_data.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

std::vector<Example> all_of(const Corpus& corpus) {
  std::vector<Example> all = corpus.train;
  all.insert(all.end(), corpus.development.begin(), corpus.development.end());
  all.insert(all.end(), corpus.test.begin(), corpus.test.end());
  return all;
}

Example find(const Corpus& corpus, const std::string& word) {
  for (const Example& example : all_of(corpus))
    if (example.source == word) return example;
  return {};
}

std::string dictionary(const std::string& lines) {
  return "/** @type {{ [word: string]: string }} */\nexport const dictionary = {\n" + lines +
         "\n}\n";
}

TEST(Pronounce, VariantsOfAWordAreItsTargetsWithoutStressAndRemarks) {
  const Corpus corpus =
      parse_pronounce(dictionary("  \"a\": \"AH0\",\n  \"a(2)\": \"EY1\",\n"
                                 "  \"a's\": \"EY1 Z\",\n"
                                 "  \"aalborg\": \"AO1 L B AO0 R G # place, danish\",\n"
                                 "  \"record\": \"R AH0 K AO1 R D\",\n"
                                 "  \"record(2)\": \"R AH1 K AO0 R D\""),
                      "test");
  EXPECT_EQ(all_of(corpus).size(), 4u);
  EXPECT_EQ(find(corpus, "a").targets, (std::vector<std::string>{"AH", "EY"}));
  EXPECT_EQ(find(corpus, "a's").targets, (std::vector<std::string>{"EY Z"}));
  EXPECT_EQ(find(corpus, "aalborg").targets, (std::vector<std::string>{"AO L B AO R G"}));
  // They differed in stress alone.
  EXPECT_EQ(find(corpus, "record").targets, (std::vector<std::string>{"R AH K AO R D"}));
}

TEST(Pronounce, PartsShareNoWordAndHaveTheirShares) {
  std::string lines;
  for (int i = 0; i < 20000; ++i) {
    std::string word;
    for (int rest = i + 1; rest > 0; rest /= 26) word += static_cast<char>('a' + rest % 26);
    for (const char* rest : {"\": \"AH0 B\",\n", "(2)\": \"EY0 B\",\n"})
      ((lines += "  \"") += word) += rest;
  }
  const Corpus corpus = parse_pronounce(dictionary(lines), "test");
  std::set<std::string> words;
  for (const Example& example : all_of(corpus)) words.insert(example.source);
  EXPECT_EQ(words.size(), all_of(corpus).size());
  const auto size = static_cast<double>(words.size());
  EXPECT_NEAR(static_cast<double>(corpus.test.size()) / size, 0.102, 0.01);
  EXPECT_NEAR(static_cast<double>(corpus.development.size()) / size, 0.02, 0.005);
}

// A change of the rule would move words from train to test under a model that has seen them.
TEST(Pronounce, TheSplitIsTheSameOnEveryMachine) {
  std::string lines;
  for (const char* word :
       {"attention", "kernel", "is",  "all", "you", "need", "zebra", "ox",  "yak",
        "gnu",       "emu",    "cat", "dog", "hen", "cow",  "pig",   "rat", "ant",
        "ape",       "bat",    "bee", "boa", "bug", "cod",  "doe",   "eel", "elk",
        "fly",       "fox",    "hog", "jay", "kid", "owl"})
    lines += std::string("  \"") + word + "\": \"AH0\",\n";
  const Corpus corpus = parse_pronounce(dictionary(lines), "test");
  std::string held_out;
  for (const Example& example : corpus.test) held_out += example.source + " ";
  held_out += "| ";
  for (const Example& example : corpus.development) held_out += example.source + " ";
  EXPECT_EQ(held_out, "kid | you ");
}

TEST(Pronounce, ALineThatIsNoEntryIsNamed) {
  for (const char* line : {"  \"word\": \"\",", "  \"word\": \"# only a remark\",",
                           "  word: AH0,", "  \"word\": \"AH0", "  \"\": \"AH0\","}) {
    const std::string message = message_of<FileError>([&] {
      parse_pronounce(dictionary("  \"a\": \"AH0\",\n" + std::string(line)), "x.js");
    });
    EXPECT_NE(message.find("x.js, line 4"), std::string::npos) << line << " gave " << message;
  }
  EXPECT_THROW(parse_pronounce("", "x.js"), FileError);
  EXPECT_THROW(parse_pronounce("export const dictionary = {\n}\n", "x.js"), FileError);
}

}  // namespace
}  // namespace attn::tasks
