// paint: pixels that are drawn, a decoder that sees no pixel before its turn, decoding with a
// cache, what is learnt, what is refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/support/learns.hpp"
#include "support/tolerance.hpp"
#include "tasks/caption/support.hpp"
#include "tasks/paint/decoder.hpp"
#include "tasks/paint/pixels.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using paint::Bits;
using paint::kPixels;
using paint::kSide;

const Task& painting() {
  return task_named("paint");
}

TEST(PaintPixels, AreInkAsOftenAsTheyAreGrey) {
  const std::vector<std::uint8_t> grey{0, 255, 128, 51};
  std::vector<double> ink(grey.size(), 0.0);
  constexpr std::uint64_t kDraws = 4000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const Bits bits = paint::draw_bits(grey, 5, i);
    for (std::size_t k = 0; k < ink.size(); ++k) ink[k] += bits[k];
  }
  EXPECT_EQ(ink[0], 0.0);
  EXPECT_EQ(ink[1], static_cast<double>(kDraws));
  // Four deviations of a share of 4,000.
  EXPECT_NEAR(ink[2] / kDraws, 128.0 / 255.0, 0.032);
  EXPECT_NEAR(ink[3] / kDraws, 51.0 / 255.0, 0.026);
  EXPECT_EQ(paint::draw_bits(grey, 5, 7), paint::draw_bits(grey, 5, 7));
}

class PaintDecoder : public testing::Test {
 protected:
  void SetUp() override { nn::seed(4); }

  static paint::DecoderOptions options() {
    return {.dim = 16, .layers = 2, .heads = 2, .feed_forward = 24};
  }
  static Tensor noise() {
    Random stream(9);
    const Tensor draws = uniform({1, 1, kSide, kSide}, 0.0, 1.0, stream);
    float* pixel = draws.mutable_data<float>();
    for (std::int64_t i = 0; i < kPixels; ++i) pixel[i] = pixel[i] < 0.5f ? 0.0f : 1.0f;
    return draws;
  }
  static Tensor unknown() {
    return Tensor::from(std::vector<std::int64_t>{paint::kClasses}, {1});
  }
};

TEST_F(PaintDecoder, SeesNoPixelBeforeItsTurn) {
  const NoGrad off_the_tape;
  const paint::PixelDecoder decoder(options());
  const Tensor pixels = noise();
  const auto before = decoder.logits(pixels, unknown()).to_vector<float>();
  for (const std::int64_t at : {0L, 27L, 28L, 400L, 783L}) {
    const Tensor changed = pixels.clone();
    changed.mutable_data<float>()[at] = 1.0f - changed.data<float>()[at];
    const auto after = decoder.logits(changed, unknown()).to_vector<float>();
    for (std::int64_t i = 0; i <= at; ++i)
      ASSERT_EQ(before[static_cast<std::size_t>(2 * i)], after[static_cast<std::size_t>(2 * i)])
          << "pixel " << i << " saw pixel " << at;
    const auto later = static_cast<std::ptrdiff_t>(2 * (at + 1));
    EXPECT_EQ(std::equal(before.begin() + later, before.end(), after.begin() + later),
              at + 1 == kPixels)
        << "later ones see it";
  }
}

TEST_F(PaintDecoder, DecodesWithACacheToTheSameLogits) {
  const NoGrad off_the_tape;
  const paint::PixelDecoder decoder(options());
  const Tensor pixels = noise();
  const auto whole = decoder.logits(pixels, unknown()).to_vector<float>();
  constexpr std::int64_t kKnown = 30;
  paint::PixelDecoder::Canvas canvas;
  for (std::int64_t at = kKnown; at < kKnown + 40; ++at) {
    const Tensor logits = at == kKnown ? decoder.begin(pixels, kKnown, unknown(), canvas)
                                       : decoder.next(pixels, at, canvas);
    for (std::int64_t k = 0; k < 2; ++k)
      ASSERT_NEAR(logits.data<float>()[k], whole[static_cast<std::size_t>(2 * at + k)],
                  test::kFloatModel)
          << at;
  }
}

class Paint : public testing::Test {
 protected:
  fs::path trained(int steps) {
    const fs::path folder = scratch_.path() / ("model" + std::to_string(steps));
    TrainingRun run = painting().defaults({}, nullptr);
    painting().read(
        {{"model", {{"dim", 16}, {"layers", 1}, {"heads", 2}, {"feed_forward", 16}}}},
        "the test", run.what);
    run.how.batch_tokens = 4;
    run.how.rate = 1e-2;
    run.how.warm_up = 10;
    run.how.average = 0.8;
    run.how.evaluate_every = 100;
    run.how.evaluate_on = 10;
    run.where.folder = folder;
    run.budget.steps = test::most_steps(steps);
    save_run(run);
    const auto learner = painting().learner(run, corpus(), {});
    learner->begin(folder);
    train(*learner, run);
    return folder;
  }
  /// Blocks, which are either ink or paper.
  static const Corpus& corpus() {
    static const Corpus kCorpus =
        paint::corpus_of({toy::digits(), toy::digits(), toy::digits()});
    return kCorpus;
  }
  Scratch scratch_;
};

TEST_F(Paint, LearnsPicturesBetterThanEachPixelAlone) {
  double alone = 0.0;
  for (const auto& [name, scores] : painting().baselines(corpus()))
    if (alone == 0.0) alone = scores.front().value;
  ASSERT_GT(alone, 0.0);
  const Scores scores = painting().evaluate(*painting().load(trained(60)), corpus().test);
  EXPECT_EQ(scores.front().name, "nats");
  EXPECT_LT(scores.front().value, alone);
}

TEST_F(Paint, CompletesAPictureAndIsAFunctionOfItsSeed) {
  const Answerer answerer(trained(2));
  Input input(std::get<Picture>(corpus().train[3].parts.at("digit")));
  input.parts.emplace("rows", "10");
  input.parts.emplace("seed", "5");
  const Reply reply = answerer(input);
  const Answer& answer = reply.answers.front();
  const auto& whole = std::get<Picture>(*answer.output);
  ASSERT_EQ(whole.pixels.size(), static_cast<std::size_t>(kPixels));
  const auto& half = input.find<Picture>("picture")->pixels;
  for (std::size_t i = 0; i < 10 * 28; ++i) ASSERT_EQ(whole.pixels[i], half[i]) << i;
  EXPECT_EQ(answerer(input).answers.front().output, answer.output);
  input.parts["seed"] = "6";
  EXPECT_NE(answerer(input).answers.front().output, answer.output);
  const maps::Map map = answerer.model().map(input, reply.pieces.front());
  maps::validate(map);
  EXPECT_FALSE(std::get<maps::Image>(map).steps.empty());
  // What was painted is read to the same probability.
  Input nothing;
  const Answer fresh = answerer(nothing).answers.front();
  Input read;
  read.parts.emplace("pixels", std::get<Picture>(*fresh.output));
  EXPECT_NEAR(answerer(read).answers.front().log_probability, fresh.log_probability, 0.05);
}

TEST_F(Paint, RefusesWhatItCannotPaint) {
  const Answerer answerer(trained(2));
  const auto refused = [&](const char* name, const std::string& text) {
    Input input;
    input.parts.emplace(name, text);
    return answerer.refusal(input);
  };
  EXPECT_EQ(refused("class", "7"), "");
  for (const auto& [name, text] :
       std::vector<std::pair<const char*, std::string>>{{"class", "10"},
                                                        {"class", "seven"},
                                                        {"class", "1.5"},
                                                        {"class", ""},
                                                        {"rows", "0"},
                                                        {"rows", "28"},
                                                        {"seed", "-1"},
                                                        {"seed", "1e300"},
                                                        {"temperature", "0"},
                                                        {"temperature", "nan"}})
    EXPECT_NE(refused(name, text).find(name), std::string::npos) << name << " " << text;
  Picture colours{2, 2, 2, std::vector<std::uint8_t>(8, 0)};
  EXPECT_NE(answerer.refusal(colours), "");
  Picture few{1L << 40, 1L << 40, 1, {1}};
  EXPECT_NE(answerer.refusal(few), "");
  EXPECT_NE(answerer.refusal("a text"), "");
}

}  // namespace
}  // namespace attn::tasks
