#include "attn/tasks/pairs/read_pairs.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

constexpr PairOptions kHalves{.development = 0.25, .test = 0.25, .seed = 1};

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "source " + std::to_string(i) + "\ttarget " + std::to_string(i) + "\n";
  return text;
}

std::set<std::string> sources(const std::vector<Example>& part) {
  std::set<std::string> out;
  for (const Example& example : part) out.insert(example.source);
  return out;
}

std::map<std::string, std::vector<std::string>> table(const Corpus& corpus) {
  std::map<std::string, std::vector<std::string>> out;
  for (const auto* part : {&corpus.train, &corpus.development, &corpus.test})
    for (const Example& example : *part)
      out[example.source].insert(out[example.source].end(), example.targets.begin(),
                                 example.targets.end());
  return out;
}

TEST(ReadPairs, EveryLineIsInExactlyOnePart) {
  const Scratch scratch;
  const Corpus corpus = read_pairs(scratch.write("p.tsv", lines(400)), {}, {});
  EXPECT_EQ(corpus.train.size(), 360u);
  EXPECT_EQ(corpus.development.size(), 20u);
  EXPECT_EQ(corpus.test.size(), 20u);
  const auto all = table(corpus);
  ASSERT_EQ(all.size(), 400u);
  for (int i = 0; i < 400; ++i)
    EXPECT_EQ(all.at("source " + std::to_string(i)),
              std::vector<std::string>{"target " + std::to_string(i)});
}

TEST(ReadPairs, AnEmptyFileIsToldSo) {
  const Scratch scratch;
  for (const char* text : {"", "\xEF\xBB\xBF"}) {
    const auto path = scratch.write("p.tsv", text);
    const std::string said = message_of<FileError>([&] { read_pairs(path, {}, {}); });
    EXPECT_NE(said.find("is empty"), std::string::npos) << said;
  }
}

TEST(ReadPairs, TheSeedChoosesTheSplitAndNothingElseDoes) {
  const Scratch scratch;
  const auto path = scratch.write("p.tsv", lines(200));
  EXPECT_EQ(sources(read_pairs(path, {}, {}).test), sources(read_pairs(path, {}, {}).test));
  EXPECT_NE(sources(read_pairs(path, {}, {}).test),
            sources(read_pairs(path, {.seed = 2}, {}).test));
}

TEST(ReadPairs, EqualSourcesStayTogetherAndAreScoredOnce) {
  const Scratch scratch;
  std::string text;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 3; ++j)
      text += "s" + std::to_string(i) + "\tt" + std::to_string(j) + "\n";
  const Corpus corpus = read_pairs(scratch.write("p.tsv", text), kHalves, {});
  EXPECT_EQ(corpus.test.size(), 10u);
  EXPECT_EQ(corpus.development.size(), 10u);
  EXPECT_EQ(corpus.train.size(), 60u);
  for (const Example& example : corpus.test)
    EXPECT_EQ(example.targets, (std::vector<std::string>{"t0", "t1", "t2"}));
  for (const std::string& source : sources(corpus.train)) {
    EXPECT_FALSE(sources(corpus.test).contains(source));
    EXPECT_FALSE(sources(corpus.development).contains(source));
  }
}

TEST(ReadPairs, MarksOfOtherSystemsAreNoPartOfTheText) {
  const Scratch scratch;
  const auto path = scratch.write("p.tsv",
                                  "\xEF\xBB\xBF"
                                  "a\tA\r\n# b\tB\r\nc\tC\tCC\r\nd\tD");
  const auto all = table(read_pairs(path, kHalves, {}));
  const std::map<std::string, std::vector<std::string>> want{
      {"a", {"A"}}, {"# b", {"B"}}, {"c", {"C", "CC"}}, {"d", {"D"}}};
  EXPECT_EQ(all, want);
}

TEST(ReadPairs, AnErrorNamesTheFileAndTheLine) {
  const Scratch scratch;
  const struct {
    const char* text;
    const char* said;
  } cases[]{{"a\tA\nb\nc\tC\n", "line 2 has one column"},
            {"a\tA\n\nc\tC\n", "line 2 is empty"},
            {"a\tA\n\tB\nc\tC\n", "line 2 has nothing in column 1"},
            {"a\tA\nb\t \nc\tC\n", "line 2 has nothing in column 2"},
            {"a\tA\nb\tB\t\nc\tC\n", "line 2 has nothing in column 3"},
            {"a\tA\nb\tB\nc\t\xff\n", "line 3 is not UTF-8"},
            {"a\tA\nb\t\xc3\nc\tC\n", "line 2 is not UTF-8"}};
  for (const auto& [text, said] : cases) {
    const auto path = scratch.write("bad.tsv", text);
    const std::string message = message_of<FileError>([&] { read_pairs(path, kHalves, {}); });
    EXPECT_NE(message.find("bad.tsv"), std::string::npos) << message;
    EXPECT_NE(message.find(said), std::string::npos) << message;
  }
}

TEST(ReadPairs, ManyWrongLinesAreCountedAndAFewNamed) {
  const Scratch scratch;
  std::string text = "a\tA\n";
  for (int i = 0; i < 100; ++i) text += "no tab\n";
  const auto path = scratch.write("bad.tsv", text);
  const std::string message = message_of<FileError>([&] { read_pairs(path, kHalves, {}); });
  EXPECT_NE(message.find("100 lines"), std::string::npos) << message;
  EXPECT_NE(message.find("line 6 "), std::string::npos) << message;
  EXPECT_EQ(message.find("line 7 "), std::string::npos) << message;
}

TEST(ReadPairs, TooFewSourcesAndWrongSharesAreErrors) {
  const Scratch scratch;
  EXPECT_THROW(read_pairs(scratch.write("p.tsv", ""), {}, {}), FileError);
  EXPECT_THROW(read_pairs(scratch.write("p.tsv", lines(2)), {}, {}), FileError);
  EXPECT_EQ(read_pairs(scratch.write("p.tsv", lines(3)), {}, {}).train.size(), 1u);
  EXPECT_EQ(read_pairs(scratch.write("p.tsv", lines(1)), {.development = 0, .test = 0}, {})
                .train.size(),
            1u);
  EXPECT_THROW(read_pairs(scratch.path() / "none.tsv", {}, {}), FileError);
  const auto path = scratch.write("p.tsv", lines(9));
  EXPECT_THROW(read_pairs(path, {.development = -0.1}, {}), InvalidArgument);
  EXPECT_THROW(read_pairs(path, {.development = 0.5, .test = 0.5}, {}), InvalidArgument);
}

}  // namespace
}  // namespace attn::tasks
