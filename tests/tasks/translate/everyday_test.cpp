// Everyday sentences become parts of a corpus; lines that are none are told by number.

#include "tasks/translate/everyday.hpp"

#include <gtest/gtest.h>

#include <string>

#include "attn/core/error.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {
namespace {

constexpr const char* kRows =
    "train\td\tHello.\tCiao.\n"
    "train\tp\tGood night.\tBuona notte.\n"
    "dev\td\tThanks.\tGrazie.\n"
    "test\tt\tSee you.\tCi vediamo.\n";

TEST(Everyday, RowsFallIntoTheirParts) {
  Corpus corpus;
  add_everyday(kRows, "made", {.file = "", .other = "it", .direct = 3}, corpus);
  ASSERT_EQ(corpus.train.size(), 2u);
  EXPECT_EQ(corpus.train[0].source, "Hello.");
  EXPECT_EQ(corpus.train[0].targets.front(), "Ciao.");
  EXPECT_EQ(corpus.train[0].times, 3) << "direct pairs weigh more";
  EXPECT_EQ(corpus.train[1].times, 1);
  ASSERT_EQ(corpus.development.size(), 1u);
  ASSERT_EQ(corpus.test.size(), 1u);
  EXPECT_EQ(pair_task_named("translate").part_of(corpus.test[0]), "everyday it");
}

TEST(Everyday, MarksAndDirectionsAreAsAsked) {
  Corpus corpus;
  add_everyday(kRows, "made",
               {.file = "", .other = "fr", .into_english = true, .mark = ">>en<< "}, corpus);
  EXPECT_EQ(corpus.train[0].source, ">>en<< Ciao.");
  EXPECT_EQ(corpus.train[0].targets.front(), "Hello.");
}

TEST(Everyday, BadLinesAreErrorsThatNameThem) {
  for (const char* line :
       {"", "train\td\tHello.", "train\td\t\tCiao.", "learn\td\tHello.\tCiao.",
        "train\td\tHello.\tCiao.\tmore", "train\td\tHello.\t\xff"}) {
    Corpus corpus;
    try {
      add_everyday(std::string(kRows) + line + "\n", "made", {.file = "", .other = "it"},
                   corpus);
      FAIL() << line;
    } catch (const FileError& error) {
      EXPECT_NE(std::string(error.what()).find("made, line 5"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Everyday, AnEpochHasAPairAsOftenAsItWeighs) {
  Corpus corpus;
  add_everyday(kRows, "made", {.file = "", .other = "it", .direct = 3}, corpus);
  const auto letters = text::Tokeniser::learn(text::Units::characters,
                                              std::vector<std::string>{"Hello. Ciao."}, 30);
  EXPECT_EQ(encode_pairs(corpus.train, letters, letters, {}, Overlong::drop).pairs.size(), 4u);
}

TEST(Everyday, QuestionsForTheTimeAreAddedButTheShownOneIsNot) {
  Corpus corpus;
  add_times_of_day(corpus);
  EXPECT_EQ(corpus.train.size(), 27u);
  for (const Example& example : corpus.train) {
    EXPECT_NE(example.source, "What time is it?") << "it is an example of the documents";
    EXPECT_EQ(example.targets.front().find("Che ora"), 0u);
    EXPECT_GT(example.times, 1);
  }
}

TEST(Everyday, TextsThatThereAreNotAreAnError) {
  EXPECT_THROW(pair_task_named("translate").load({.language = "da", .texts = "everyday"}, {}),
               InvalidArgument);
  EXPECT_THROW(
      pair_task_named("translate").load({.language = "zh-en", .texts = "descriptions"}, {}),
      InvalidArgument);
}

}  // namespace
}  // namespace attn::tasks
