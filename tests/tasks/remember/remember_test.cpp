// remember: stories are read, a memory network learns to find the sentence that answers, and
// what it cannot answer it refuses or tells.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/random.hpp"
#include "nn/support/learns.hpp"
#include "support/tolerance.hpp"
#include "tasks/remember/exchange.hpp"
#include "tasks/remember/story.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

const Task& task() {
  return task_named("remember");
}

/// Stories of three people and where they go; each asks for one of them, whoever went last.
std::string stories(std::size_t count) {
  const std::vector<std::string> people{"Mary", "John", "Ann"};
  const std::vector<std::string> places{"kitchen", "garden", "office", "hall"};
  Random random(7);
  std::string text;
  for (std::size_t s = 0; s < count; ++s) {
    std::vector<std::size_t> place(people.size());
    std::vector<std::size_t> line(people.size());
    for (std::size_t i = 0; i < 2 * people.size(); ++i) {
      const std::size_t who = i < people.size() ? i : random.next() % people.size();
      place[who] = random.next() % places.size();
      line[who] = i + 1;
      text += std::to_string(i + 1) + " " + people[who] + " went to the " + places[place[who]] +
              ".\n";
    }
    const std::size_t asked = random.next() % people.size();
    text += std::to_string(2 * people.size() + 1) + " Where is " + people[asked] + "?\t" +
            places[place[asked]] + "\t" + std::to_string(line[asked]) + "\n";
  }
  return text;
}

/// A model that learnt such stories, trained once.
class RememberTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<Scratch>();
    train("sentences", 400);
    answerer_ = std::make_unique<Answerer>(scratch_->path() / "sentences");
  }
  static void TearDownTestSuite() {
    answerer_.reset();
    scratch_.reset();
  }

  static Scores train(const std::string& memory, std::int64_t steps) {
    TrainingRun run = task().defaults({}, nullptr);
    task().read({{"data", scratch_->write("stories.txt", stories(700)).string()},
                 {"model",
                  {{"memory", memory},
                   {"dim", 16},
                   {"hops", 2},
                   {"memories", 8},
                   {"linear_start", steps / 4}}}},
                "the test", run.what);
    run.where.folder = scratch_->path() / memory;
    run.how.batch_tokens = 320;
    run.how.rate = 0.02;
    run.how.warm_up = 20;
    run.how.average = 0.9;
    run.how.evaluate_every = steps;
    run.budget.steps = test::most_steps(static_cast<int>(steps));
    const Corpus corpus = task().corpus(run.what, {});
    save_run(run);
    const auto learner = task().learner(run, corpus, {});
    learner->begin(run.where.folder);
    tasks::train(*learner, run);
    return task().evaluate(*task().load(run.where.folder), corpus.test);
  }

  static Input input(const std::string& story, const std::string& question) {
    Input input;
    input.parts = {{"story", story}, {"question", question}};
    return input;
  }
  static std::string refusal(const std::string& story, const std::string& question) {
    return answerer_->refusal(input(story, question));
  }

  static std::unique_ptr<Scratch> scratch_;
  static std::unique_ptr<Answerer> answerer_;
};

std::unique_ptr<Scratch> RememberTest::scratch_;
std::unique_ptr<Answerer> RememberTest::answerer_;

double score_named(const Scores& scores, const std::string& name) {
  const auto at = std::find_if(scores.begin(), scores.end(),
                               [&](const NamedScore& one) { return one.name == name; });
  return at == scores.end() ? -1.0 : at->value;
}

TEST_F(RememberTest, FindsTheSentenceThatAnswers) {
  const Corpus corpus =
      task().corpus({{"data", (scratch_->path() / "stories.txt").string()}}, {});
  const Scores scores = task().evaluate(answerer_->model(), corpus.test);
  if (!test::is_judged()) return;
  // Always the likeliest of four places is wrong three times of four.
  EXPECT_LT(score_named(scores, "error"), 10.0);
  EXPECT_GT(score_named(scores, "supported"), 90.0);
  EXPECT_GT(score_named(task().baselines(corpus).front().scores, "error"), 50.0);
}

TEST_F(RememberTest, KeyValueMemoryFindsItToo) {
  const double error = score_named(train("key-value", 500), "error");
  if (test::is_judged()) {
    EXPECT_LT(error, 25.0);
  }
}

/// As a baseline it answers; it has no hops to show.
TEST_F(RememberTest, AnLstmLooksNowhere) {
  const Scores scores = train("none", 5);
  EXPECT_GE(score_named(scores, "error"), 0.0);
  EXPECT_EQ(score_named(scores, "supported"), -1.0);
  const Answerer lstm(scratch_->path() / "none");
  const Input asked = input("Mary went to the hall.", "Where is Mary?");
  const Reply reply = lstm(asked);
  EXPECT_THROW(lstm.model().map(asked, reply.pieces.front()), InvalidArgument);
}

TEST_F(RememberTest, ShowsEachHopOverTheSentences) {
  const Input asked =
      input("Mary went to the hall. John went to the office.\nAnn went to the kitchen",
            "Where is John?");
  const Reply reply = (*answerer_)(asked);
  if (test::is_judged()) {
    EXPECT_EQ(reply.answers.front().text, "office");
  }
  EXPECT_TRUE(reply.notes.empty());
  double sum = 0.0;
  for (const Label& label : std::get<Labels>(*reply.answers.front().output)) sum += label.score;
  EXPECT_NEAR(sum, 1.0, test::kFloatSum);
  const maps::Map map = answerer_->model().map(asked, reply.pieces.front());
  maps::validate(map);
  const auto& hops = std::get<maps::Alignment>(map);
  EXPECT_EQ(hops.rows, (maps::Labels{"hop 1", "hop 2"}));
  ASSERT_EQ(hops.columns.size(), 3u);
  EXPECT_EQ(hops.columns[1], "John went to the office.");
  for (std::size_t hop = 0; hop < 2; ++hop)
    EXPECT_NEAR(hops.weights.at(hop, 0) + hops.weights.at(hop, 1) + hops.weights.at(hop, 2),
                1.0, test::kFloatSum);
}

TEST_F(RememberTest, RefusesWhatItCannotRead) {
  EXPECT_EQ(refusal("Mary went to the hall.", "Where is Mary?"), "");
  for (const auto& [story, question] : std::vector<std::pair<std::string, std::string>>{
           {"", "Where is Mary?"},
           {" \n.. ", "Where is Mary?"},
           {"Mary went to the hall.", ""},
           {"Mary went to the hall.", "?"},
           {"Mary went to the hall.", "Qui est la?"},
           {"Il pleut.", "Where is Mary?"},
           {"Mary went to the \xff.", "Where is Mary?"},
           {std::string("Mary\0went", 9), "Where is Mary?"},
           {std::string(std::size_t{5} << 20, 'a'), "Where is Mary?"}})
    EXPECT_NE(refusal(story, question), "") << story.substr(0, 20) << " | " << question;
  EXPECT_THROW((*answerer_)(input("", "Where is Mary?")), InvalidArgument);
}

TEST_F(RememberTest, TellsOfWordsItNeverSawAndOfWhatItForgets) {
  const Reply strange = (*answerer_)(input("Zelda went to the hall.", "Where is Zelda?"));
  ASSERT_EQ(strange.notes.size(), 1u);
  EXPECT_NE(strange.notes.front().find("zelda"), std::string::npos);
  EXPECT_NE(strange.notes.front().find("garden, hall, kitchen, office"), std::string::npos);

  std::string story = "Mary went to the office.";
  for (int i = 0; i < 10000; ++i) story += " John went to the hall.";
  const Reply late = (*answerer_)(input(story, "Where is John?"));
  EXPECT_TRUE(late.cut);
  EXPECT_EQ(late.notes.size(), 1u);
  EXPECT_EQ(late.answers.front().numbers.at("hop 1").size(), 8u);

  std::string breathless = "Mary";
  for (int i = 0; i < 10000; ++i) breathless += " went";
  const Reply cut = (*answerer_)(input(breathless, "Where is Mary?"));
  EXPECT_EQ(cut.notes.size(), 1u);
}

TEST(RememberStory, FallsIntoSentencesAndWords) {
  using Views = std::vector<std::string_view>;
  EXPECT_EQ(remember::sentences_of("Mary left. Where? Home!\n\n a.b c\r\n "),
            (Views{"Mary left.", "Where?", "Home!", "a.b c"}));
  EXPECT_TRUE(remember::sentences_of(" \n ").empty());
  EXPECT_EQ(remember::words_of("Is \"Mary\" (there), or not?"),
            (std::vector<std::string>{"is", "mary", "there", "or", "not"}));
  EXPECT_EQ(remember::token_of("The Red Box"), "the_red_box");
}

TEST(RememberStory, NamesTheLineThatIsWrong) {
  const auto problem = [](const std::string& text) {
    return message_of<FileError>([&] { remember::parse_own(text, "mine.txt"); });
  };
  for (const auto& [text, line] : std::vector<std::pair<std::string, std::string>>{
           {"Mary left.\n", "line 1"},
           {"1 Mary left.\n3 John left.\n", "line 2"},
           {"2 Mary left.\n", "line 1"},
           {"1 Mary left.\n2 ...\n", "line 2"},
           {"1 Mary left.\n2 Who left?\t\t1\n", "line 2"},
           {"1 Mary left.\n2 Who left?\tMary\t7\n", "line 2"},
           {"1 Mary left.\n2 Who left?\tMary\tone\n", "line 2"},
           {"1 Mary left.\n2 Who left?\tMary\t1\t2\n", "line 2"}})
    EXPECT_NE(problem(text).find("mine.txt, " + line), std::string::npos)
        << text << problem(text);
  EXPECT_NE(problem("").find("each part needs one"), std::string::npos);
  EXPECT_NE(problem("1 Mary left.\n2 Who left?\tMary\t1\n").find("each part needs one"),
            std::string::npos);
  EXPECT_NE(problem("1 \xff\n").find("UTF-8"), std::string::npos);
  const std::string prepared = message_of<FileError>(
      [] { remember::parse_prepared("1\ttrain\t1\tMary left.\n21\ttrain\t1\tx\n", "babi"); });
  EXPECT_NE(prepared.find("babi, line 2"), std::string::npos) << prepared;
}

TEST(RememberStory, NumbersTheSupportingSentences) {
  const Corpus corpus = remember::parse_prepared(
      "3\ttest\t1\tMary left.\n3\ttest\t2\tWho left?\tMary\t1\n"
      "3\ttest\t3\tJohn left\n3\ttest\t4\tWho left last?\tJohn\t3 1\n",
      "babi");
  ASSERT_EQ(corpus.test.size(), 2u);
  for (const Example& example : corpus.test) {
    EXPECT_EQ(remember::task_of(example), 3);
    const bool first = example.targets.front() == "Mary";
    EXPECT_EQ(remember::story_of(example.input()),
              first ? "Mary left. " : "Mary left. John left. ");
    EXPECT_EQ(remember::support_of(example),
              first ? std::vector<std::int64_t>{0} : (std::vector<std::int64_t>{1, 0}));
  }
}

TEST(RememberExchange, IsAPermutationOfEachGroup) {
  Random random(3);
  for (std::int64_t number = 0; number <= 20; ++number) {
    const remember::Exchanged words = remember::exchange(number, random);
    EXPECT_EQ(words.empty(), number == 0 || number == 18 || number == 20) << number;
    std::vector<std::string> from;
    std::vector<std::string> to;
    for (const auto& [a, b] : words) {
      from.push_back(a);
      to.push_back(b);
    }
    std::sort(from.begin(), from.end());
    std::sort(to.begin(), to.end());
    EXPECT_EQ(from, to) << number;
  }
  const remember::Exchanged swap{
      {"north", "south"}, {"n", "s"}, {"south", "north"}, {"s", "n"}};
  EXPECT_EQ(remember::exchanged("n,e", swap), "s,e");
  EXPECT_EQ(remember::exchanged("yes", swap), "yes");
}

TEST(RememberCorpus, HasTwentyTasksWhoseStoriesShareNoPart) {
  if (!has_prepared(task().prepared().front()))
    GTEST_SKIP() << "babi-1k.tsv.xz is not in the cache";
  const Corpus corpus = task().corpus(task().defaults({}, nullptr).what, {});
  EXPECT_EQ(corpus.train.size() + corpus.development.size(), 20000u);
  EXPECT_EQ(corpus.test.size(), 20000u);
  std::vector<int> tests(21);
  for (const Example& example : corpus.test)
    ++tests[static_cast<std::size_t>(remember::task_of(example))];
  EXPECT_EQ(tests[0], 0);
  for (std::size_t number = 1; number <= 20; ++number) EXPECT_EQ(tests[number], 1000) << number;
}

}  // namespace
}  // namespace attn::tasks
