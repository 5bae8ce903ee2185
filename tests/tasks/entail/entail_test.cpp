// entail: words, data with bad lines, three matchers that learn what needs both sentences,
// refusals, the map, and pairs made of word relations.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/support/learns.hpp"
#include "support/tolerance.hpp"
#include "tasks/entail/data.hpp"
#include "tasks/entail/word_relations.hpp"
#include "tasks/entail/word_vectors.hpp"
#include "tasks/entail/words.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

Input pair_of(const std::string& premise, const std::string& hypothesis) {
  Input input;
  input.parts.emplace("premise", premise);
  input.parts.emplace("hypothesis", hypothesis);
  return input;
}

const Task& entail() {
  return task_named("entail");
}

/// Two animals with colours of their own. A colour of the other animal contradicts, an animal
/// that nobody named is neutral: every word that counts is in both sentences, so it takes the
/// place of a word to tell.
std::string coloured_pairs() {
  const Words animals{"cat", "dog", "hen", "cow", "pig"};
  const Words colours{"red", "blue", "green", "white"};
  std::string lines;
  for (const std::string& one : animals)
    for (const std::string& two : animals)
      for (const std::string& first : colours)
        for (const std::string& second : colours) {
          if (one == two || first == second) continue;
          const std::string premise = "a " + first + " " + one + " and a " + second + " " + two;
          const std::string& third = animals[(lines.size() / 7) % animals.size()];
          lines += "e\t" + premise + "\ta " + first + " " + one + "\n";
          lines += "contradiction\t" + premise + "\ta " + first + " " + two + "\n";
          if (third != one && third != two)
            lines += "Neutral\t" + premise + "\ta " + first + " " + third + "\n";
        }
  return lines;
}

class Entail : public testing::Test {
 protected:
  fs::path trained(const std::string& matching, std::int64_t steps) {
    const fs::path folder = scratch_.path() / matching;
    TrainingRun run = entail().defaults({{"model", {{"matching", matching}}}}, nullptr);
    entail().read({{"data", scratch_.write("pairs.tsv", coloured_pairs()).string()},
                   {"model",
                    {{"matching", matching},
                     {"dim", 24},
                     {"hidden", 24},
                     {"dropout", 0.0},
                     {"word_dropout", 0.0}}}},
                  "the test", run.what);
    run.how.batch_tokens = 640;
    run.how.rate = 1e-2;
    run.how.warm_up = 20;
    run.how.average = 0.9;
    run.how.evaluate_every = 50;
    run.how.evaluate_on = 100;
    run.how.patience = 0;
    run.where.folder = folder;
    run.budget.steps = test::most_steps(static_cast<int>(steps));
    const Corpus corpus = entail().corpus(run.what, {});
    save_run(run);
    const auto learner = entail().learner(run, corpus, {});
    learner->begin(folder);
    train(*learner, run);
    test_ = corpus.test;
    return folder;
  }
  double accuracy_of(const fs::path& folder) const {
    return entail().evaluate(*entail().load(folder), test_).front().value;
  }

  Scratch scratch_;
  std::vector<Example> test_;
};

constexpr double kLearnt = 90.0;
constexpr double kNotLearnt = 75.0;

TEST(EntailWords, AreSmallLettersWithoutPunctuation) {
  EXPECT_EQ(entail::words_of("The boy\u2019s dog isn't here, 'now'."),
            (Words{"the", "boy", "'s", "dog", "is", "n't", "here", "now"}));
  EXPECT_EQ(entail::words_of(" ,.! "), Words{});
  EXPECT_EQ(entail::words_of("Café 3"), (Words{"café", "3"}));
  EXPECT_EQ(entail::stem_of("playing"), "play");
  EXPECT_EQ(entail::ending_of("playing"), "ing");
  EXPECT_EQ(entail::ending_of("play"), "");
  EXPECT_THROW(entail::words_of("\xFF"), InvalidArgument);
}

TEST(EntailWords, AreReadUpToABound) {
  const Words texts{"one two"};
  const entail::WordTables tables(entail::learn_words(texts, 10));
  std::string text;
  for (int i = 0; i < 10000; ++i) text += "one three ";
  const entail::Sentence sentence = tables.read(text);
  EXPECT_TRUE(sentence.cut);
  EXPECT_EQ(sentence.words.size(), entail::kMostWords);
  EXPECT_EQ(sentence.unknown, entail::kMostWords / 2);
}

TEST(EntailData, NamesBadLinesOfAFile) {
  const Scratch scratch;
  const auto problem = [&](std::string_view text) {
    const fs::path path = scratch.write("mine.tsv", text);
    return message_of<FileError>([&] { entail::read_own(path); });
  };
  const std::string several = problem(
      "e\tA dog runs.\tA dog moves.\n"
      "maybe\tA dog runs.\tA cat runs.\n"
      "c\tA dog runs.\n"
      "n\t \tA dog.\n"
      "n\tA dog.\t...\n"
      "n\tA \xFF.\tA dog.\n");
  for (const char* part : {"5 lines", "line 2 has the label \"maybe\"", "line 3 has 2 columns",
                           "line 4 has a premise without words",
                           "line 5 has a hypothesis without words", "line 6 is not UTF-8"})
    EXPECT_NE(several.find(part), std::string::npos) << several;
  EXPECT_NE(problem("").find("is empty"), std::string::npos);
  EXPECT_NE(problem("e\ta\tb\ne\tc\td\n").find("every label is entailment"), std::string::npos);
  EXPECT_NE(problem("e\ta\tb\nc\ta\td\n").find("more different premises"), std::string::npos);
  EXPECT_NE(message_of<FileError>([] {
              entail::parse_prepared("train\tsnli\tx\tA\tB\n", entail::TestSet::snli, "nli");
            }).find("line 1"),
            std::string::npos);
}

TEST(EntailData, PartsShareNoPremise) {
  const Scratch scratch;
  const Corpus corpus = entail::read_own(scratch.write("pairs.tsv", coloured_pairs()));
  std::set<std::string> train;
  for (const Example& example : corpus.train) train.insert(entail::premise_of(example));
  for (const auto* part : {&corpus.development, &corpus.test})
    for (const Example& example : *part)
      EXPECT_FALSE(train.contains(entail::premise_of(example)));
}

TEST(EntailData, OfTheTaskIsWhatTheRecipeSays) {
  if (!has_prepared(entail::prepared_pairs()))
    GTEST_SKIP() << "nli.tsv.xz is not in the cache: attn data entail --from FOLDER";
  nlohmann::json what = entail().defaults({}, nullptr).what;
  const Corpus snli = entail().corpus(what, {});
  EXPECT_EQ(snli.train.size(), 47971u);
  EXPECT_EQ(snli.development.size(), 9842u);
  EXPECT_EQ(snli.test.size(), 9824u);
  what["test_set"] = "breaking";
  EXPECT_EQ(entail().corpus(what, {}).test.size(), 8193u);
}

TEST_F(Entail, EachMatcherLearnsWhatTheHypothesisAloneDoesNotTell) {
  for (const char* matching : {"both-ways", "word-by-word", "decomposable"}) {
    const double accuracy = accuracy_of(trained(matching, 400));
    if (test::is_judged()) {
      EXPECT_GT(accuracy, kLearnt) << matching;
    }
  }
  const double alone = accuracy_of(trained("none", 200));
  if (test::is_judged()) {
    EXPECT_LT(alone, kNotLearnt);
  }
}

TEST_F(Entail, AnswersRefusesAndDraws) {
  const Answerer answerer(trained("both-ways", 20));
  const Reply reply = answerer(pair_of("A red cat and a blue dog.", "A red cat."));
  ASSERT_TRUE(reply.answers.front().output.has_value());
  const auto& labels = std::get<Labels>(*reply.answers.front().output);
  double sum = 0.0;
  for (const Label& label : labels) sum += label.score;
  EXPECT_EQ(labels.size(), 3u);
  EXPECT_NEAR(sum, 1.0, test::kFloatSum);
  EXPECT_EQ(reply.answers.front().text, labels.front().name);
  EXPECT_TRUE(reply.notes.empty());

  const Input input = pair_of("a red cat", "the red unheard ones");
  const Reply strange = answerer(input);
  EXPECT_TRUE(strange.unfamiliar);
  EXPECT_NE(strange.notes.front().find("unheard"), std::string::npos);
  const auto map =
      std::get<maps::Alignment>(answerer.model().map(input, strange.pieces.front()));
  EXPECT_EQ(map.rows, (Words{"the", "red", "unheard", "ones"}));
  EXPECT_EQ(map.columns, (Words{"a", "red", "cat"}));
  for (std::size_t row = 0; row < map.weights.rows; ++row) {
    float total = 0.0f;
    for (std::size_t column = 0; column < map.weights.columns; ++column)
      total += map.weights.at(row, column);
    EXPECT_NEAR(total, 1.0f, test::kFloatSum);
  }

  const auto refusal = [&](const std::string& premise, const std::string& hypothesis) {
    return answerer.refusal(pair_of(premise, hypothesis));
  };
  EXPECT_NE(refusal("a cat", "").find("empty hypothesis"), std::string::npos);
  EXPECT_NE(refusal("...", "a cat").find("empty premise"), std::string::npos);
  EXPECT_NE(refusal("a cat", "猫は赤い").find("knows no word"), std::string::npos);
  EXPECT_NE(refusal("a \xFF", "a cat").find("not UTF-8"), std::string::npos);
  EXPECT_NE(refusal(std::string("a \0cat", 6), "a cat").find("NUL"), std::string::npos);
  EXPECT_NE(answerer.refusal(Input("a cat")).find("has no premise"), std::string::npos);

  std::string longest;
  for (int i = 0; i < 10000; ++i) longest += "cat ";
  const Reply cut = answerer(pair_of(longest, "a cat"));
  EXPECT_TRUE(cut.cut);
  EXPECT_NE(cut.notes.front().find("150 words"), std::string::npos);
}

TEST_F(Entail, APairIsAnsweredAloneAsAmongOthers) {
  const Answerer answerer(trained("decomposable", 20));
  const std::vector<Input> inputs{
      pair_of("a red cat and a blue dog", "a cat"), pair_of("a pig", "a white pig"),
      pair_of("a cow and a very long hen and a red one and a blue one", "a blue hen")};
  const std::vector<Reply> together = answerer(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Reply alone = answerer(inputs[i]);
    EXPECT_EQ(alone.answers.front().text, together[i].answers.front().text);
    EXPECT_NEAR(alone.answers.front().score, together[i].answers.front().score,
                test::kFloatModel);
  }
}

TEST(EntailRelations, MakePairsOfADictionary) {
  // animal > dog, cat; dog > poodle; hot ! cold
  const entail::WordNetFiles files{
      .noun =
          "  1 licence\n"
          "01 03 n 01 animal 0 000 | x\n"
          "02 03 n 02 dog 0 hound 0 001 @ 01 n 0000 | x\n"
          "03 03 n 01 cat 0 001 @ 01 n 0000 | x\n"
          "04 03 n 01 poodle 0 001 @ 02 n 0000 | x\n",
      .adjective =
          "11 00 a 01 hot(a) 0 001 ! 12 a 0101 | x\n"
          "12 00 a 01 cold 0 001 ! 11 a 0101 | x\n",
      .senses =
          "animal%1:03:00:: 01 1 9\ncat%1:03:00:: 03 1 5\ncold%3:00:00:: 12 1 3\n"
          "dog%1:03:00:: 02 1 7\ndog%2:38:00:: 99 1 2\nhot%3:00:00:: 11 1 4\n"
          "hound%1:03:00:: 02 1 0\npoodle%1:03:00:: 04 1 0\n"};
  const auto relations =
      entail::relations_of(files, {"animal", "dog", "hound", "cat", "poodle", "hot", "cold"});
  EXPECT_EQ(relations.at("dog").wider, Words{"animal"});
  EXPECT_EQ(relations.at("dog").equal, Words{"hound"});
  EXPECT_EQ(relations.at("dog").narrower, Words{"poodle"});
  EXPECT_EQ(relations.at("dog").opposed, Words{"cat"});
  EXPECT_EQ(relations.at("hot").opposed, Words{"cold"});

  const std::vector<Example> examples{
      entail::example_of("1", "neutral", "an animal is hot", "x")};
  const std::map<std::string, entail::Relations> some{{"hot", relations.at("hot")}};
  const auto pairs = entail::related_pairs(examples, some, 10);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(entail::hypothesis_of(pairs.front()), "an animal is cold");
  EXPECT_EQ(pairs.front().targets, Words{"contradiction"});
  EXPECT_TRUE(entail::related_pairs(examples, some, 0).empty());
}

TEST(EntailVectors, ArePrincipalComponents) {
  Random random = Random(3).named("rows");
  const Tensor rows = normal({50, 6}, 1.0, 2.0, random);
  const Tensor components = entail::principal_components(rows, 3);
  ASSERT_EQ(components.shape(), (Shape{50, 3}));
  const std::vector<float> products =
      matmul(components.transpose(0, 1), components).to_vector<float>();
  double trace = 0.0;
  for (std::size_t i = 0; i < 3; ++i) trace += products[i * 4];
  EXPECT_NEAR(trace, 150.0, 150.0 * test::kFloatModel);
  EXPECT_GE(products[0], products[4]);
  EXPECT_THROW(entail::principal_components(rows, 7), InvalidArgument);
}

}  // namespace
}  // namespace attn::tasks
