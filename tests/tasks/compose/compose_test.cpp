// The task compose: steps of chorales are sets with probabilities that add up to 1, the network
// learns a rule of eight steps, goes on with music within bounds, and draws what it looked at.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "nn/support/learns.hpp"
#include "support/tolerance.hpp"
#include "tasks/compose/chorale.hpp"
#include "tasks/compose/data.hpp"
#include "tasks/compose/layers.hpp"
#include "tasks/compose/network.hpp"
#include "tasks/compose/notation.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using compose::Steps;
using compose::Tokens;

const Task& task() {
  return task_named("compose");
}

/// Pieces in ABC whose melody is eight drawn notes, and the same eight again.
std::string echoes(std::size_t count) {
  Random random(11);
  const std::string letters = "CDEFGABc";
  std::string text;
  for (std::size_t piece = 0; piece < count; ++piece) {
    std::string eight;
    for (int i = 0; i < 8; ++i) eight += letters[random.next() % letters.size()];
    text += "X:" + std::to_string(piece) + "\nM:4/4\nL:1/4\nK:C\n" + eight + eight + "\n";
  }
  return text;
}

nlohmann::json small(const std::string& kind, const std::string& positions = "relative") {
  return {{"kind", kind}, {"positions", positions}, {"dim", 16},    {"layers", 2},
          {"heads", 2},   {"feed_forward", 16},     {"window", 64}, {"dropout", 0.0}};
}

std::shared_ptr<compose::ComposeNetwork> fresh(const nlohmann::json& model) {
  nn::seed(9);
  const nlohmann::json facts =
      model.at("kind") == "tune"
          ? nlohmann::json{{"kind", "tune"}, {"characters", "\n /:168ABCDEFGKLMabcdefgz|"}}
          : nlohmann::json{{"kind", "chorale"}, {"lowest", 40}, {"highest", 80}};
  auto network = std::make_shared<compose::ComposeNetwork>(model, facts, "the test");
  network->eval();
  return network;
}

Reply reply_of(const Network& network, const Input& input, const Choices& choices = {}) {
  return network.answer(std::vector<Input>{input}, choices).front();
}

Input chorale(const std::string& steps) {
  Input input;
  input.parts = {{"chorale", steps}};
  return input;
}

class ComposeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<Scratch>();
    scratch_->write("echoes.abc", echoes(400));
  }
  static void TearDownTestSuite() { scratch_.reset(); }

  static double train(const std::string& kind, const std::string& name,
                      const nlohmann::json& model, int steps) {
    const nlohmann::json asked{{"data", (scratch_->path() / "echoes.abc").string()},
                               {"model", model}};
    TrainingRun run = task().defaults(asked, nullptr);
    task().read(asked, "the test", run.what);
    EXPECT_EQ(run.what.at("model").at("kind"), kind);
    run.how.rate = 1e-2;
    run.how.warm_up = 20;
    run.how.batch_tokens = 1024;
    run.how.average = 0.9;
    run.how.evaluate_every = 1000;
    run.budget.steps = test::most_steps(steps);
    run.where.folder = scratch_->path() / name;
    const Corpus corpus = task().corpus(run.what, {});
    const auto learner = task().learner(run, corpus, {});
    learner->begin(run.where.folder);
    tasks::train(*learner, run);
    return task().evaluate(*task().load(run.where.folder), corpus.test).front().value;
  }

  static std::unique_ptr<Scratch> scratch_;
};

std::unique_ptr<Scratch> ComposeTest::scratch_;

/// Half of the notes are drawn from eight, the other half are known: log 8 / 2.
TEST_F(ComposeTest, LearnsWhatStandsEightStepsBack) {
  const double nats = train("chorale", "chorale", small("chorale"), 400);
  const auto corpus = task().corpus({{"data", (scratch_->path() / "echoes.abc").string()}}, {});
  const auto baselines = task().baselines(corpus);
  ASSERT_EQ(baselines.size(), 2u);
  EXPECT_GT(baselines.front().scores.front().value, 1.9);
  EXPECT_GT(baselines.front().scores.front().value,
            baselines.back().scores.front().value - 0.2);
  if (!test::is_judged()) return;
  EXPECT_LT(nats, 1.6);
  EXPECT_GT(nats, std::log(8.0) / 2.0 - 0.1);
}

TEST_F(ComposeTest, LearnsCharactersOfTunes) {
  const double before = train("tune", "tune-0", small("tune"), 1);
  const double nats = train("tune", "tune", small("tune"), 150);
  if (test::is_judged()) {
    EXPECT_LT(nats, before / 2.0);
  }
  const Answerer answerer(scratch_->path() / "tune");
  const Reply reply =
      answerer(Input("M:4/4\nL:1/4\nK:C\nCDE"), {.temperature = 1.0, .tokens = 20});
  EXPECT_EQ(reply.answers.front().text.find("X:1\nT:A tune\nM:4/4\nL:1/4\nK:C\nCDE"), 0u)
      << reply.answers.front().text;
}

TEST(Chorale, TokensAreStepsAndBack) {
  const std::string text = "60/64/67/72 62/65 - 48";
  const Steps steps = compose::read_steps(text, "it");
  EXPECT_EQ(compose::write_steps(steps), text);
  const auto tokens = compose::tokens_of(steps);
  EXPECT_EQ(tokens.size(), 16u);
  EXPECT_EQ(compose::steps_of(tokens), steps);
  for (const char* bad : {"60/64/67/72/76", "C4", "20", "109", "60//64", "60.5"})
    EXPECT_NE(message_of<FileError>([&] { compose::read_steps(bad, "it"); }), "") << bad;
}

TEST(Chorale, MusicBecomesStepsOfItsOuterAndMiddleVoices) {
  compose::Music music;
  for (const int pitch : {40, 50, 60, 61, 70, 80}) music.notes.push_back({0, 2 * 960, pitch});
  music.notes.push_back({960 + 480, 480, 90});  // off the beat
  std::size_t crowded = 0;
  const Steps steps = compose::steps_of(music, &crowded);
  EXPECT_EQ(crowded, 2u);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0], (compose::Step{40, 60, 61, 80}));
}

/// The sum over every set of at most four of the lowest notes that may stand, the others being
/// forbidden: all other sets have a share, too, so it is below 1, and with all sets 1.
TEST(Chorale, ProbabilitiesOfAllSetsAddUpToOne) {
  // With equal chances of what may stand, sets have 1 / allowed each time.
  const auto classes = static_cast<std::size_t>(compose::ChoraleTokens::kCount);
  std::vector<float> penalties(classes);
  // f(low, n): the mass of all sets of at most n more notes above `low`, by recursion.
  std::vector<std::vector<double>> mass(compose::kVoices + 1, std::vector<double>(classes, -1));
  const std::function<double(std::vector<std::int64_t>&)> sum =
      [&](std::vector<std::int64_t>& step) -> double {
    if (step.size() == compose::kVoices) return 1.0;
    const auto low = static_cast<std::size_t>(step.empty() ? 0 : step.back());
    double& known = mass[step.size()][low];
    if (known >= 0.0) return known;
    compose::forbid(step, penalties.data());
    std::vector<std::int64_t> allowed;
    for (std::size_t i = 0; i < classes; ++i)
      if (penalties[i] == 0.0f) allowed.push_back(static_cast<std::int64_t>(i));
    double total = 0.0;
    for (const std::int64_t token : allowed) {
      if (token == compose::ChoraleTokens::kEnd) {
        total += 1.0;  // the rest of the step is certain
        continue;
      }
      step.push_back(token);
      total += sum(step);
      step.pop_back();
    }
    return known = total / static_cast<double>(allowed.size());
  };
  std::vector<std::int64_t> step;
  EXPECT_NEAR(sum(step), 1.0, test::kDoubleSum);
  // Behind an end mark there is nothing but end marks.
  const std::vector<std::int64_t> ended{compose::ChoraleTokens::kEnd};
  compose::forbid(ended, penalties.data());
  for (std::size_t i = 0; i < classes; ++i)
    EXPECT_EQ(penalties[i] == 0.0f,
              static_cast<std::int64_t>(i) == compose::ChoraleTokens::kEnd);
}

TEST(Compose, ReadsAPieceAsItWouldWriteIt) {
  for (const char* positions : {"relative", "sinusoidal", "none"}) {
    const auto network = fresh(small("chorale", positions));
    const Reply whole = reply_of(*network, chorale("48/60/64/67 50/62/65 52/60/67/72"));
    // Greedily written, then read: the same probability.
    const Reply written = reply_of(*network, "", {.tokens = 12});
    const Steps steps = compose::steps_of(written.answers.front().target);
    const Reply read = reply_of(*network, chorale(compose::write_steps(steps)));
    EXPECT_NEAR(read.answers.front().log_probability, written.answers.front().log_probability,
                test::kFloatModel)
        << positions;
    EXPECT_LT(whole.answers.front().log_probability, 0.0);
  }
}

TEST(Compose, GoesOnBeyondItsWindowAndWithinItsNotes) {
  const auto network = fresh(small("chorale"));
  const Reply reply = reply_of(*network, "L:1/4\nK:C\n[CEGc] [B,DGB]",
                               {.temperature = 1.0, .seed = 4, .tokens = 160});
  const Answer& answer = reply.answers.front();
  EXPECT_EQ(answer.source.size(), 8u);
  EXPECT_EQ(answer.target.size(), 160u);
  const auto& notes = std::get<Table>(*answer.output);
  EXPECT_EQ(std::get<double>(notes.rows.at(0).at(2)), 60.0);
  for (const auto& row : notes.rows) {
    EXPECT_GE(std::get<double>(row.at(2)), compose::kLowest);
    EXPECT_LE(std::get<double>(row.at(2)), compose::kHighest);
  }
  // The seed decides, and another one decides otherwise.
  const Choices choices{.temperature = 1.0, .seed = 4, .tokens = 40};
  EXPECT_EQ(reply_of(*network, "", choices).answers.front().text,
            reply_of(*network, "", choices).answers.front().text);
  Choices other = choices;
  other.seed = 5;
  EXPECT_NE(reply_of(*network, "", choices).answers.front().text,
            reply_of(*network, "", other).answers.front().text);
}

TEST(Compose, RefusesWhatIsNoMusic) {
  const auto network = fresh(small("chorale"));
  EXPECT_EQ(network->refusal(""), "");
  EXPECT_EQ(network->refusal("[CEG]"), "");
  for (const std::string text :
       {"??? z", "\xff\xfe", "L:1/0\nK:C\nA", "K:C\nA99999999", "K:C\nC,,,,,"})
    EXPECT_NE(network->refusal(text), "") << text;
  EXPECT_NE(network->refusal(std::string(2 << 20, 'A')), "");
  Input table;
  table.parts.emplace("notes", Table{{"begin", "length", "pitch"}, {{0.0, 1.0, 300.0}}});
  EXPECT_NE(network->refusal(table), "");
}

TEST(Compose, DrawsARollWithWhatTheLastNotesLookedAt) {
  const auto network = fresh(small("chorale"));
  const Input begin("L:1/4\nK:C\n[CEGc] [B,DGB] [CEGc]");
  const Reply reply = reply_of(*network, begin, {.temperature = 1.0, .tokens = 40});
  const maps::Map map = network->map(begin, reply.pieces.front(), "");
  maps::validate(map);
  const auto& roll = std::get<maps::Diagram>(map);
  EXPECT_EQ(roll.parts.size(), std::get<Table>(*reply.answers.front().output).rows.size());
  ASSERT_EQ(roll.grids.size(), 1u);
  // What lay on notes, end marks and the beginning apart, is at most 1.
  for (std::size_t row = 0; row < roll.grids[0].rows.size(); ++row) {
    double sum = 0.0;
    for (std::size_t i = 0; i < roll.grids[0].columns.size(); ++i)
      sum += static_cast<double>(roll.grids[0].weights.at(row, i));
    EXPECT_LE(sum, 1.0 + test::kFloatSum);
    EXPECT_GT(sum, 0.0);
  }
  const maps::Map heads = network->map(begin, reply.pieces.front(), "all");
  maps::validate(heads);
  EXPECT_EQ(std::get<maps::Heads>(heads).maps.size(), 4u);
  const auto tune = fresh(small("tune"));
  const Input jig("M:6/8\nL:1/8\nK:G\nGAB dBG | ABc d");
  const Reply more = reply_of(*tune, jig, {.temperature = 1.0, .tokens = 30});
  const maps::Map bars = tune->map(jig, more.pieces.front(), "");
  maps::validate(bars);
  EXPECT_EQ(std::get<maps::Alignment>(bars).rows.at(3), "GAB dBG |");
}

TEST(Compose, TransposesWithinTheRange) {
  const auto network = fresh(small("chorale"));
  Random random(1);
  const Tokens piece = compose::tokens_of(Steps{{42, 60, 64, 78}, {50}});
  bool moved = false;
  for (int i = 0; i < 50; ++i) {
    Tokens other = piece;
    network->notation().vary(other, random);
    const Steps steps = compose::steps_of(other);
    EXPECT_GE(steps[0].front(), 40);
    EXPECT_LE(steps[0].back(), 80);
    EXPECT_EQ(steps[0].back() - steps[0].front(), 36);
    moved = moved || other != piece;
  }
  EXPECT_TRUE(moved);
}

TEST(ComposeData, PartsAreThoseOfTheFileAndTunesOfOneNameShareOne) {
  const std::string chorales =
      "train\tquarter\t0\t60/64 62\nvalid\tquarter\t0\t60\ntest\tquarter\t0\t-\n"
      "train\t16th\t0\t74/70/65/58\n";
  const Corpus corpus = compose::parse_chorales(chorales);
  EXPECT_EQ(corpus.train.size(), 1u);
  EXPECT_EQ(compose::units_of(corpus.train.front().input()), 2.0);
  EXPECT_NE(message_of<FileError>([] {
              compose::parse_chorales("train\tquarter\t0\n");
            }).find("line 1"),
            std::string::npos);
  std::string tunes;
  for (int i = 0; i < 60; ++i) {
    const std::string letters{static_cast<char>('a' + i % 26), static_cast<char>('a' + i / 26)};
    for (const char* title : {"The Reel of ", "REEL of "})
      tunes += "book\t" + (title + letters) + " (2)\treel\t6/8 % x\t1/8\tG\tGAB  d" +
               std::to_string(i) + "\n";
  }
  const Corpus all = compose::parse_tunes(tunes, 100);
  EXPECT_EQ(all.train.size() + all.development.size() + all.test.size(), 120u);
  EXPECT_EQ(*compose::piece_text(all.train.front().input())->c_str(), 'M');
  for (const auto* part : {&all.train, &all.development, &all.test})
    EXPECT_EQ(part->size() % 2, 0u);
}

/// The data of the task, where it was taken.
TEST(ComposeData, TheChoralesAreThere) {
  if (!has_prepared(compose::chorales_file()))
    GTEST_SKIP() << "attn data compose --from FOLDER takes " << compose::chorales_file().name;
  const Corpus corpus = task().corpus(task().defaults({}, nullptr).what, {});
  EXPECT_EQ(corpus.train.size(), 229u);
  EXPECT_EQ(corpus.development.size(), 76u);
  EXPECT_EQ(corpus.test.size(), 77u);
}

}  // namespace
}  // namespace attn::tasks
