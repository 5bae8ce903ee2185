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

const PairOptions kHalves{.development = 0.25, .test = 0.25, .seed = 1};

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

TEST(ReadPairs, ACsvFileHasAHeaderAndQuotes) {
  const Scratch scratch;
  const auto path = scratch.write("p.csv",
                                  "id,target,source\r\n1,\"A, or \"\"AA\"\"\",a\r\n"
                                  "2,B,\"b\nb\"\r\n3,C,c\r\n");
  const std::map<std::string, std::vector<std::string>> want{
      {"a", {"A, or \"AA\""}}, {"b b", {"B"}}, {"c", {"C"}}};
  EXPECT_EQ(table(read_pairs(path, kHalves, {})), want);
  PairOptions turned = kHalves;
  turned.source_column = "target";
  turned.target_column = "3";
  EXPECT_EQ(table(read_pairs(path, turned, {})).at("B"), std::vector<std::string>{"b b"});
  // Columns with names are a header in a file of tabs, too.
  const auto tabs = scratch.write("p.tsv", "q\tz\nx\ty\nv\tw\nt\tu\n");
  turned.source_column = "z";
  turned.target_column = "q";
  EXPECT_EQ(table(read_pairs(tabs, turned, {})).at("w"), std::vector<std::string>{"v"});
}

TEST(ReadPairs, JsonLinesHoldTextsOrListsOfThem) {
  const Scratch scratch;
  const std::string text =
      "{\"source\": \"a\", \"target\": \"A\", \"more\": 1}\n"
      "{\"source\": \"b\", \"target\": [\"B\", \"BB\"]}\n{\"target\": \"C\", \"source\": "
      "\"c\"}\n";
  const std::map<std::string, std::vector<std::string>> want{
      {"a", {"A"}}, {"b", {"B", "BB"}}, {"c", {"C"}}};
  EXPECT_EQ(table(read_pairs(scratch.write("p.jsonl", text), kHalves, {})), want);
  EXPECT_EQ(table(read_pairs(scratch.write("p.data", text), kHalves, {})), want)
      << "told by its first letter";
}

TEST(ReadPairs, AnErrorOfCsvAndJsonNamesTheLineAndTheColumn) {
  const Scratch scratch;
  const struct {
    const char* name;
    const char* text;
    const char* said;
  } cases[]{
      {"p.csv", "source,target\na,A\nb,\nc,C\n", "line 3 has nothing in column \"target\""},
      {"p.csv", "source,target\na,A\nb,B,C\n", "line 3 has 3 fields"},
      {"p.csv", "question,answer\na,A\n", "there is no column \"source\""},
      {"p.csv", "question,answer\na,A\n", "--source-column"},
      {"p.csv", "source,target\na,\xff\n", "line 2 is not UTF-8"},
      {"p.csv", "source,target\n", "has a header and no pair"},
      {"p.jsonl", "{\"source\":\"a\",\"target\":\"A\"}\n{\"source\":\n", "line 2 is not JSON"},
      {"p.jsonl", "[1]\n", "line 1 is no JSON object"},
      {"p.jsonl", "{\"source\":\"a\",\"label\":\"A\"}\n", "line 1 has no \"target\""},
      {"p.jsonl", "{\"source\":\"a\",\"target\":3}\n", "line 1 has number in \"target\""},
      {"p.jsonl", "{\"source\":\"a\",\"target\":[]}\n", "line 1 has nothing in \"target\""}};
  for (const auto& [name, text, said] : cases) {
    const auto path = scratch.write(name, text);
    const std::string message = message_of<FileError>([&] { read_pairs(path, kHalves, {}); });
    EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_NE(message.find(said), std::string::npos) << message;
  }
}

TEST(ReadPairs, AFileIsKnownByItsPathAndItsBytes) {
  const Scratch scratch;
  const auto path = scratch.write("p.tsv", lines(9));
  const Corpus first = read_pairs(path, {}, {});
  EXPECT_TRUE(first.file.is_absolute());
  EXPECT_EQ(first.checksum.size(), 64u);
  EXPECT_EQ(read_pairs(scratch.write("q.tsv", lines(9)), {}, {}).checksum, first.checksum);
  EXPECT_NE(read_pairs(scratch.write("p.tsv", lines(10)), {}, {}).checksum, first.checksum);
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
