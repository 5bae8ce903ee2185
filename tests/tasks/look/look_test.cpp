// look: scenes, what a reading costs, readers that learn, refusals, the path of glimpses.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "nn/support/learns.hpp"
#include "tasks/caption/support.hpp"
#include "tasks/look/reader.hpp"
#include "tasks/look/scene.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using look::SceneKind;

const Task& look_at() {
  return task_named("look");
}

/// Blocks of three widths under three labels, many times: what a coarse glimpse tells poorly.
Digits blocks(std::size_t times) {
  const Digits ten = toy::digits();
  Digits made;
  for (std::size_t i = 0; i < times; ++i)
    for (const std::size_t digit : {0u, 3u, 7u}) {
      const auto pixels = ten.at(digit);
      made.pixels.insert(made.pixels.end(), pixels.begin(), pixels.end());
      made.labels.push_back(static_cast<std::uint8_t>(digit));
    }
  return made;
}

DigitParts parts() {
  return {blocks(64), blocks(20), blocks(20)};
}

std::size_t ink_in(std::span<const std::uint8_t> pixels) {
  return static_cast<std::size_t>(std::count_if(pixels.begin(), pixels.end(),
                                                [](std::uint8_t pixel) { return pixel > 0; }));
}

TEST(LookScenes, HoldTheDigitWhollyAndTheirPieces) {
  const Digits ten = toy::digits();
  look::DigitList list;
  for (std::size_t i = 0; i < ten.size(); ++i) list.push_back(ten.at(i));
  std::set<std::vector<std::uint8_t>> different;
  for (const SceneKind& kind : look::scene_kinds()) {
    const auto size = static_cast<std::size_t>(kind.side * kind.side);
    const std::vector<std::uint8_t> scenes = look::compose_scenes(list, kind, 7);
    ASSERT_EQ(scenes.size(), list.size() * size);
    EXPECT_EQ(scenes, look::compose_scenes(list, kind, 7)) << "a function of the seed";
    EXPECT_NE(scenes, look::compose_scenes(list, kind, 8));
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto scene = std::span(scenes).subspan(i * size, size);
      const std::size_t digit = ink_in(list[i]);
      EXPECT_GE(ink_in(scene), digit) << kind.name;
      EXPECT_LE(ink_in(scene), digit + static_cast<std::size_t>(kind.pieces) * 64) << kind.name;
      if (kind.pieces == 0) {
        EXPECT_EQ(ink_in(scene), digit);
      }
    }
  }
  EXPECT_THROW(look::scene_named("tidy"), InvalidArgument);
}

look::ReaderOptions usual(std::int64_t side) {
  return {.side = side,
          .glimpses = 8,
          .patch = 12,
          .scales = 4,
          .what = 128,
          .where = 64,
          .hidden = 192,
          .sigma = 0.1};
}

TEST(LookReaders, GlimpsesCostTheSameOnAnyPictureAndAConvolutionNoMore) {
  const std::int64_t cost = look::glimpse_cost(usual(60));
  EXPECT_EQ(look::glimpse_cost(usual(1000)), cost);
  for (const std::int64_t side : {60, 100}) {
    const std::int64_t other = look::convolution_reader(usual(side))->multiply_adds();
    EXPECT_LE(other, cost) << side;
    EXPECT_GE(other, cost / 2) << "as much as fits, at " << side;
  }
}

class Look : public testing::Test {
 protected:
  fs::path trained(const std::string& name, const nlohmann::json& model, int steps,
                   Resume resume = Resume::no) {
    const fs::path folder = scratch_.path() / name;
    TrainingRun run = look_at().defaults({}, nullptr);
    look_at().read({{"model",
                     {{"glimpses", 3},
                      {"patch", 8},
                      {"scales", 3},
                      {"what", 24},
                      {"where", 8},
                      {"hidden", 32}}}},
                   "the test", run.what);
    look_at().read({{"model", model}}, "the test", run.what);
    run.how.batch_tokens = 64;
    run.how.rate = 4e-3;
    run.how.warm_up = 20;
    run.how.average = 0.9;
    run.how.evaluate_every = 100;
    run.how.evaluate_on = 30;
    run.where.folder = folder;
    run.where.resume = resume;
    run.budget.steps = test::most_steps(steps);
    save_run(run);
    const auto learner = look_at().learner(run, corpus(), {});
    learner->begin(folder);
    train(*learner, run);
    return folder;
  }
  static const Corpus& corpus() {
    static const Corpus kCorpus = look::corpus_of(parts(), look::scene_named("translated"));
    return kCorpus;
  }
  static double error_of(const fs::path& folder) {
    const Scores scores = look_at().evaluate(*look_at().load(folder), corpus().test);
    EXPECT_EQ(scores.front().name, "error");
    EXPECT_GT(scores.back().value, 0.0) << "its cost";
    return scores.front().value;
  }

  Scratch scratch_;
};

constexpr double kLearnt = 25.0;  ///< chance is wrong on two of three

TEST_F(Look, LearnsByGlimpsesAndByConvolution) {
  const double glimpses = error_of(trained("glimpses", nlohmann::json::object(), 250));
  const double convolution = error_of(trained("convolution", {{"kind", "convolution"}}, 120));
  if (!test::is_judged()) return;
  EXPECT_LT(glimpses, kLearnt);
  EXPECT_LT(convolution, kLearnt);
}

TEST_F(Look, ThePlacesAreLearntFromRewardAlone) {
  const fs::path folder = trained("a", nlohmann::json::object(), 2);
  TrainingRun run = load_run(folder);
  const auto learner = look_at().learner(run, corpus(), {});
  learner->begin_epoch(0);
  learner->learn(0).loss.backward();
  bool location = false;
  for (const auto& [name, tensor] : learner->module().named_parameters()) {
    ASSERT_TRUE(tensor.grad().defined()) << name << " learns nothing";
    location = location || name == "reader.policy.location.weight";
  }
  EXPECT_TRUE(location);
  run.what["model"]["policy"] = "random";
  const auto chance = look_at().learner(run, corpus(), {});
  chance->begin_epoch(0);
  chance->learn(0).loss.backward();
  for (const auto& [name, tensor] : chance->module().named_parameters())
    EXPECT_EQ(tensor.grad().defined(), !name.starts_with("reader.policy")) << name;
}

TEST_F(Look, ResumesToTheSameModel) {
  const auto bytes = [](const fs::path& folder) {
    std::ifstream in(folder / "model.safetensors", std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const nlohmann::json none = nlohmann::json::object();
  const std::string whole = bytes(trained("whole", none, 200));
  trained("half", none, 100);
  const std::string both = bytes(trained("half", none, 200, Resume::yes));
  ASSERT_FALSE(whole.empty());
  EXPECT_EQ(whole == both, true) << "the spread of the places goes on where it was";
}

TEST_F(Look, AnswersAloneAsInABatchAndTellsItsPath) {
  for (const char* policy : {"learnt", "random"}) {
    const Answerer answerer(trained(policy, {{"policy", policy}}, 2));
    std::vector<Input> inputs;
    for (std::size_t i = 0; i < 5; ++i) inputs.push_back(corpus().test[i].input());
    const std::vector<Reply> together = answerer(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Reply alone = answerer(inputs[i]);
      const Answer& answer = alone.answers.front();
      const Table& path = *answer.table;
      ASSERT_EQ(path.rows.size(), 3u);
      EXPECT_EQ(path.columns.front(), "glimpse");
      EXPECT_EQ(std::get<std::string>(path.rows[0][1]), "30") << "the middle first";
      for (std::size_t row = 0; row < path.rows.size(); ++row)
        for (std::size_t column = 0; column < 4; ++column)
          EXPECT_EQ(path.rows[row][column],
                    together[i].answers.front().table->rows[row][column]);
      const auto& labels = std::get<Labels>(*answer.output);
      ASSERT_EQ(labels.size(), 10u);
      EXPECT_EQ(labels.front().name, answer.text);
      EXPECT_GE(labels.front().score, labels.back().score);
    }
  }
}

TEST_F(Look, DrawsThePathOverThePicture) {
  const Answerer answerer(trained("a", nlohmann::json::object(), 2));
  const Input input = corpus().test.front().input();
  const Reply reply = answerer(input);
  const maps::Map map = answerer.model().map(input, reply.pieces.front());
  maps::validate(map);
  const auto& image = std::get<maps::Image>(map);
  EXPECT_EQ(image.pixels, input.find<Picture>("scene")->pixels);
  ASSERT_EQ(image.steps.size(), 4u) << "the path, then a glimpse each";
  EXPECT_EQ(image.steps[0].path.size(), 3u);
  ASSERT_EQ(image.steps[1].boxes.size(), 3u);
  const maps::Box& sharp = image.steps[1].boxes[0];
  EXPECT_EQ(sharp.width, 8.0);
  EXPECT_EQ(sharp.x, 26.0);
  EXPECT_EQ(image.steps[1].boxes[2].width, 32.0);
  EXPECT_EQ(maps::parse_map(maps::to_json(map)), map);
}

Picture bar(std::int64_t width, std::int64_t height, std::uint8_t ground, std::uint8_t ink) {
  Picture picture{width, height, 1,
                  std::vector<std::uint8_t>(static_cast<std::size_t>(width * height), ground)};
  for (std::int64_t y = height / 4; y < height / 2; ++y)
    for (std::int64_t x = width / 3; x < width / 2; ++x)
      picture.pixels[static_cast<std::size_t>(y * width + x)] = ink;
  return picture;
}

TEST_F(Look, TakesAnyPictureAndRefusesWhatIsNone) {
  const Answerer answerer(trained("a", nlohmann::json::object(), 2));
  EXPECT_EQ(answerer.refusal(bar(333, 200, 250, 10)), "") << "dark on light";
  EXPECT_EQ(answerer.refusal(bar(28, 28, 0, 255)), "");
  EXPECT_EQ(answerer(bar(333, 200, 250, 10)).answers.front().text.size(), 1u);

  EXPECT_NE(answerer.refusal("a text"), "");
  EXPECT_NE(answerer.refusal(bar(60, 60, 255, 255)), "") << "a blank sheet";
  Picture colours = bar(60, 60, 0, 255);
  colours.channels = 3;
  EXPECT_NE(answerer.refusal(colours), "");
  for (const auto& [width, height] : {std::pair{61L, 60L}, std::pair{0L, 0L},
                                      std::pair{-60L, -60L}, std::pair{1L << 62, 4L}}) {
    Picture wrong = bar(60, 60, 0, 255);
    wrong.width = width;
    wrong.height = height;
    EXPECT_NE(answerer.refusal(wrong), "") << width << " x " << height;
  }
  Input scene;
  scene.parts.emplace("scene", bar(59, 60, 0, 255));
  EXPECT_NE(answerer.refusal(scene), "") << "a scene has its size";
}

TEST_F(Look, TheConvolutionHasNoPath) {
  const Answerer answerer(trained("c", {{"kind", "convolution"}}, 2));
  const Input input = corpus().test.front().input();
  const Reply reply = answerer(input);
  EXPECT_FALSE(reply.answers.front().table);
  EXPECT_TRUE(
      std::get<maps::Image>(answerer.model().map(input, reply.pieces.front())).steps.empty());
}

TEST_F(Look, SettingsHaveBounds) {
  TrainingRun run = look_at().defaults({}, nullptr);
  for (const nlohmann::json& wrong : std::vector<nlohmann::json>{{{"scene", "tidy"}},
                                                                 {{"glimpses", 0}},
                                                                 {{"scales", 9}},
                                                                 {{"sigma", 0.0}},
                                                                 {{"kind", "both"}}})
    EXPECT_THROW(look_at().read({{"model", wrong}}, "the test", run.what), FileError) << wrong;
}

}  // namespace
}  // namespace attn::tasks
