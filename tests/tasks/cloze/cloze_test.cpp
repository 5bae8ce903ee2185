// cloze: verses ask questions, both readers learn which name a question means, and what has no
// answer is refused.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/random.hpp"
#include "nn/support/learns.hpp"
#include "support/tolerance.hpp"
#include "tasks/cloze/passage.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

using Texts = std::vector<std::string>;

const Task& task() {
  return task_named("cloze");
}

/// Three people, each with a thing of their own; it is asked who has one of the things.
Corpus owners(const Texts& people = {"Ann", "Bob", "Cid", "Dan"}) {
  const Texts things{"lamp", "ring", "book"};
  Random random(5);
  Corpus corpus;
  corpus.name = "owners";
  for (std::size_t i = 0; i < 600; ++i) {
    const std::size_t first = random.next() % people.size();
    const std::size_t turn = random.next() % things.size();
    const std::size_t asked = random.next() % things.size();
    std::string text;
    for (std::size_t k = 0; k < things.size(); ++k)
      text += "now " + people[(first + k) % people.size()] + " took the " +
              things[(turn + k) % things.size()] + ". ";
    Example example{.id = std::to_string(i),
                    .source = "",
                    .targets = {people[(first + asked) % people.size()]}};
    example.parts.emplace("text", text);
    example.parts.emplace("question",
                          "so _____ has the " + things[(turn + asked) % things.size()] + ".");
    (i % 10 == 0   ? corpus.development
     : i % 10 == 1 ? corpus.test
                   : corpus.train)
        .push_back(std::move(example));
  }
  return corpus;
}

class ClozeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<Scratch>();
    accuracy_ = train("over", 0.0);
    answerer_ = std::make_unique<Answerer>(scratch_->path() / "over-0.000000-owners");
  }
  static void TearDownTestSuite() {
    answerer_.reset();
    scratch_.reset();
  }

  /// Learns who owns what, and returns the score on the test part.
  static double train(const std::string& reader, double forget,
                      const Corpus& corpus = owners()) {
    const std::int64_t steps = test::most_steps(150);
    TrainingRun run = task().defaults({}, nullptr);
    task().read({{"model",
                  {{"attention", reader},
                   {"words", 16},
                   {"hidden", 16},
                   {"dropout", 0.0},
                   {"forget", forget}}}},
                "the test", run.what);
    run.where.folder =
        scratch_->path() / (reader + "-" + std::to_string(forget) + "-" + corpus.name);
    run.how.batch_tokens = 480;
    run.how.rate = 0.02;
    run.how.warm_up = 10;
    run.how.average = 0.9;
    run.how.evaluate_every = steps;
    run.budget.steps = steps;
    save_run(run);
    const auto learner = task().learner(run, corpus, {});
    learner->begin(run.where.folder);
    tasks::train(*learner, run);
    return task().evaluate(*task().load(run.where.folder), corpus.test).front().value;
  }

  static Input input(const std::string& text, const std::string& question) {
    Input input;
    input.parts = {{"text", text}, {"question", question}};
    return input;
  }

  static std::unique_ptr<Scratch> scratch_;
  static std::unique_ptr<Answerer> answerer_;
  static double accuracy_;
};

std::unique_ptr<Scratch> ClozeTest::scratch_;
std::unique_ptr<Answerer> ClozeTest::answerer_;
double ClozeTest::accuracy_ = 0.0;

TEST_F(ClozeTest, BothReadersFindWhoIsMeant) {
  const double sum = train("sum", 0.0);
  if (!test::is_judged()) return;
  // One of three is right by chance.
  EXPECT_GT(accuracy_, 90.0);
  EXPECT_GT(sum, 90.0);
  EXPECT_LT(task().baselines(owners()).front().scores.front().value, 60.0);
}

TEST_F(ClozeTest, ShowsWhatEachWordOfTheQuestionLooksAt) {
  const Input asked =
      input("now Bob took the ring. now Ann took the book.", "so XXXXX has the book.");
  const Reply reply = (*answerer_)(asked);
  if (test::is_judged()) {
    EXPECT_EQ(reply.answers.front().text, "Ann");
  }
  const auto& labels = std::get<Labels>(*reply.answers.front().output);
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_NEAR(labels[0].score + labels[1].score, 1.0, test::kFloatSum);
  const maps::Map map = answerer_->model().map(asked, reply.pieces.front());
  maps::validate(map);
  const auto& looked = std::get<maps::Alignment>(map);
  EXPECT_EQ(looked.columns, (maps::Labels{"Bob", "Ann"}));
  EXPECT_EQ(looked.rows, (maps::Labels{"so", "_____", "has", "the", "book", ".", "all"}));
}

TEST_F(ClozeTest, TakesNamesThatItNeverSawAndNeverOnesOfTheQuestion) {
  const Reply reply = (*answerer_)(
      input("now Zelda took the ring. now Yves took the lamp.", "so _____ saw Zelda."));
  EXPECT_EQ(reply.answers.front().text, "Yves");
  EXPECT_EQ(std::get<Labels>(*reply.answers.front().output).size(), 1u);
}

TEST_F(ClozeTest, AReaderThatForgotNamesGoesByWhereTheyStand) {
  // Where Ann is the answer to all questions, her name gives it away.
  Corpus corpus = owners();
  corpus.name = "what is Ann's";
  for (auto* part : {&corpus.train, &corpus.development})
    std::erase_if(*part, [](const Example& one) { return one.targets.front() != "Ann"; });
  corpus.test = owners({"Eve", "Fay", "Gus", "Hal"}).test;
  const double by_name = train("over", 0.0, corpus);
  const double by_place = train("over", 0.5, corpus);
  if (!test::is_judged()) return;
  EXPECT_LT(by_name, 70.0);
  EXPECT_GT(by_place, 90.0);
}

TEST_F(ClozeTest, RefusesWhatHasNoAnswer) {
  const std::string text = "now Bob took the ring.";
  const auto refusal = [&](const std::string& a, const std::string& b) {
    return answerer_->refusal(input(a, b));
  };
  EXPECT_EQ(refusal(text, "so _____ has it."), "");
  for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{
           {"", "so _____ has it."},
           {"now he took the ring.", "so _____ has it."},
           {text, ""},
           {text, "so he has it."},
           {text, "_____ and _____ have it."},
           {text, "so _____ saw Bob."},
           {"Bob \xff", "so _____ has it."},
           {std::string("Bob\0", 4), "so _____ has it."},
           {std::string(std::size_t{5} << 20, 'a'), "so _____ has it."}})
    EXPECT_NE(refusal(a, b), "") << a.substr(0, 20) << " | " << b;
}

TEST_F(ClozeTest, SaysSoOfWordsThatItDoesNotKnow) {
  const Reply known = (*answerer_)(input("now Bob took the ring.", "so _____ has the ring."));
  EXPECT_FALSE(known.unfamiliar);
  EXPECT_TRUE(known.notes.empty());
  const Reply strange = (*answerer_)(
      input("yesterday Zelda repaired our router.", "so _____ restarted the server."));
  EXPECT_TRUE(strange.unfamiliar);
  ASSERT_EQ(strange.notes.size(), 1u);
  EXPECT_NE(strange.notes.front().find("6 of 11 words"), std::string::npos)
      << strange.notes.front();
}

TEST_F(ClozeTest, ReadsTheEndOfAnEndlessText) {
  std::string text = "Ann took it.";
  for (int i = 0; i < 5000; ++i) text += " now Bob took the ring.";
  std::string question = "so _____ has the ring";
  for (int i = 0; i < 5000; ++i) question += " ring";
  const Reply reply = (*answerer_)(input(text, question));
  EXPECT_TRUE(reply.cut);
  EXPECT_EQ(reply.notes.size(), 2u);
  EXPECT_EQ(reply.answers.front().text, "Bob");
}

TEST(ClozePassage, FallsIntoWordsAndMarks) {
  EXPECT_EQ(cloze::tokens_of("And XXXXX said,  God's __ of\nMary-Ann!"),
            (Texts{"And", "_____", "said", ",", "God's", "_____", "of", "Mary-Ann", "!"}));
}

TEST(ClozePassage, KnowsNamesByTheirCapitals) {
  const std::vector<Texts> texts{{"then", "Saul", "said", ",", "Let", "us", "let", "go"},
                                 {"and", "Let", "him", "let", "us", "let", "it", "be"}};
  const cloze::Names names = cloze::learn_names(texts);
  EXPECT_TRUE(names.contains("Saul"));
  EXPECT_TRUE(names.contains("David")) << "no common word";
  EXPECT_FALSE(names.contains("Let")) << "more often small";
  EXPECT_FALSE(names.contains("I"));
  EXPECT_FALSE(names.contains("said"));
}

TEST(ClozePassage, AsksForNamesThatTheVersesBeforeHave) {
  const std::string json =
      R"(["Now Saul <FI>was<Fi> king.<RF>was: or is<Rf>", "And Saul sent David.",)"
      R"( "Then Saul and David went."])";
  const Texts verses = cloze::verses_of(json, "a chapter");
  EXPECT_EQ(verses.front(), "Now Saul was king.");
  cloze::Names names;
  names.common = {"now", "and", "then"};
  const auto twice = cloze::questions_of(verses, names, "book 9, 1");
  ASSERT_EQ(twice.size(), 1u);
  EXPECT_EQ(twice.front().targets, (Texts{"Saul"}));
  EXPECT_EQ(cloze::question_of(twice.front().input()), "Then _____ and David went .");
  EXPECT_EQ(twice.front().id, "book 9, 1:3");
  EXPECT_EQ(cloze::questions_of(verses, names, "book 9, 1", 1).size(), 2u);
  EXPECT_THROW(cloze::verses_of("[1]", "a chapter"), FileError);
  EXPECT_THROW(cloze::verses_of("no json", "a chapter"), FileError);
}

}  // namespace
}  // namespace attn::tasks
