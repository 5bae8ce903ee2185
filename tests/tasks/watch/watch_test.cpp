// The task watch: PNG files are read by the byte, names tell units and actions, and a net
// learns what moves where, which one frame does not show.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
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
#include "tasks/scratch.hpp"
#include "tasks/watch/clips.hpp"
#include "tasks/watch/inflate.hpp"
#include "tasks/watch/sprite.hpp"

namespace attn::tasks {
namespace {

using Bytes = std::vector<std::uint8_t>;
using watch::kFrames;
using watch::kSide;

const Task& task() {
  return task_named("watch");
}

/// zlib, level 9: (i * i / 7) % 11 for i below 400.
const Bytes kPacked{120, 218, 237, 204, 193, 13,  192, 64,  8,   3,   65, 99,  11,  14,
                    211, 127, 193, 33,  82,  58,  200, 247, 246, 61,  90, 0,   65,  229,
                    49,  84,  102, 141, 154, 135, 45,  103, 116, 114, 78, 42,  48,  238,
                    205, 131, 88,  55,  204, 142, 244, 199, 166, 232, 18, 188, 142, 129,
                    183, 59,  251, 55,  123, 0,   238, 196, 7,   132};
/// The fixed code: "abc" seven times and an exclamation mark.
const Bytes kFixed{120, 1, 75, 76, 74, 78, 196, 64, 138, 0, 96, 161, 8, 44};
/// A PNG of 3 x 2 pixels, 4 bits of a palette whose first colour is clear.
const Bytes kSprite{137, 80,  78, 71,  13,  10,  26,  10,  0,   0,   0,  13, 73, 72,  68,  82,
                    0,   0,   0,  3,   0,   0,   0,   2,   4,   3,   0,  0,  0,  111, 90,  123,
                    41,  0,   0,  0,   12,  80,  76,  84,  69,  255, 0,  0,  0,  255, 0,   0,
                    0,   255, 9,  9,   9,   92,  113, 126, 134, 0,   0,  0,  1,  116, 82,  78,
                    83,  0,   64, 230, 216, 102, 0,   0,   0,   14,  73, 68, 65, 84,  120, 156,
                    99,  96,  84, 96,  18,  20,  0,   0,   0,   195, 0,  69, 3,  29,  8,   95,
                    0,   0,   0,  0,   73,  69,  78,  68,  174, 66,  96, 130};

TEST(Inflate, UndoesWhatZlibDid) {
  const Bytes numbers = watch::inflated(kPacked, 400, "it");
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], i * i / 7 % 11) << i;
  const Bytes letters = watch::inflated(kFixed, 22, "it");
  EXPECT_EQ(std::string(letters.begin(), letters.end()), "abcabcabcabcabcabcabc!");
  const Bytes stored{0x78, 0x01, 0x01, 2, 0, 0xFD, 0xFF, 7, 8};
  EXPECT_EQ(watch::inflated(stored, 2, "it"), (Bytes{7, 8}));
}

TEST(Inflate, RefusesWhatIsDamagedAndNeverTakesMore) {
  const auto refusal = [](const Bytes& bytes, std::size_t size) {
    return message_of<FileError>([&] { watch::inflated(bytes, size, "it"); });
  };
  EXPECT_NE(refusal(kPacked, 399).find("more than"), std::string::npos);
  EXPECT_NE(refusal(kPacked, 401).find("too soon"), std::string::npos);
  for (std::size_t size = 0; size < 50; ++size)
    EXPECT_NE(
        refusal(Bytes(kPacked.begin(), kPacked.begin() + static_cast<std::ptrdiff_t>(size)),
                400),
        "")
        << size;
  Random random(2);
  for (int i = 0; i < 3000; ++i) {
    Bytes bytes = i % 2 == 0 ? kPacked : kFixed;
    bytes[2 + random.next() % (bytes.size() - 2)] = static_cast<std::uint8_t>(random.next());
    try {
      EXPECT_EQ(watch::inflated(bytes, 400, "it").size(), 400u);
    } catch (const FileError&) {
    }
  }
}

watch::Sprite sprite_of(const Bytes& bytes) {
  return watch::read_sprite(std::as_bytes(std::span(bytes)), "it");
}

TEST(Sprite, HasColoursAndWhatTheyCover) {
  const watch::Sprite sprite = sprite_of(kSprite);
  EXPECT_EQ(sprite.width, 3);
  EXPECT_EQ(sprite.height, 2);
  EXPECT_EQ(sprite.pixels, (Bytes{255, 0,   0, 0,   0, 255, 0,   255, 0, 0, 255, 255,
                                  0,   255, 0, 255, 0, 0,   255, 255, 9, 9, 9,   255}));
  const Picture square = watch::on_white(sprite, 3);
  EXPECT_EQ(square.pixels.size(), 27u);
  // The clear pixel shows the white below it.
  EXPECT_EQ(square.pixels[0], 255);
  EXPECT_EQ(square.pixels[4], 255);
}

TEST(Sprite, RefusesOthers) {
  const auto refusal = [](const Bytes& bytes) {
    return message_of<FileError>([&] { sprite_of(bytes); });
  };
  for (std::size_t size = 0; size + 12 < kSprite.size(); ++size)
    EXPECT_NE(
        refusal(Bytes(kSprite.begin(), kSprite.begin() + static_cast<std::ptrdiff_t>(size))),
        "")
        << size;
  const auto with = [&](std::size_t at, std::uint8_t value) {
    Bytes bytes = kSprite;
    bytes[at] = value;
    return refusal(bytes);
  };
  EXPECT_NE(with(16, 0x7F).find("pixels"), std::string::npos);  // two thousand million wide
  EXPECT_NE(with(24, 16).find("16 bits"), std::string::npos);
  EXPECT_NE(with(25, 5).find("kind 5"), std::string::npos);
  EXPECT_NE(with(28, 1).find("interlaced"), std::string::npos);
  EXPECT_NE(with(19, 5), "");
  Random random(3);
  for (int i = 0; i < 3000; ++i) {
    Bytes bytes = kSprite;
    bytes[random.next() % bytes.size()] = static_cast<std::uint8_t>(random.next());
    try {
      const watch::Sprite sprite = sprite_of(bytes);
      EXPECT_EQ(sprite.pixels.size(),
                static_cast<std::size_t>(sprite.width * sprite.height * 4));
    } catch (const FileError&) {
    }
  }
}

TEST(Clips, NamesTellUnitsAndActions) {
  const auto told = [](const char* path) {
    const auto name = watch::parse_series(path);
    return name ? name->unit + " " + name->action : "";
  };
  EXPECT_EQ(told("orcs/archer-ranged"), "orcs/archer ranged");
  EXPECT_EQ(told("orcs/archer-ranged-se"), "orcs/archer ranged");
  EXPECT_EQ(told("human-outlaws/thug+female-attack"), "human-outlaws/thug melee");
  EXPECT_EQ(told("drakes/burner-fire-inhale"), "drakes/burner ranged");
  EXPECT_EQ(told("undead/skeleton-die"), "undead/skeleton die");
  EXPECT_EQ(told("orcs/archer"), "");
  EXPECT_EQ(told("attack"), "");
}

/// A square that goes right is "move", left "die", and one that stays is "idle"; where it
/// begins is drawn, so that a single frame tells nothing.
std::vector<Example> squares(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Example> clips;
  for (std::size_t i = 0; i < count; ++i) {
    const auto kind = static_cast<int>(random.next() % 3);
    const auto y = static_cast<std::int64_t>(random.next() % 24);
    const auto middle = static_cast<std::int64_t>(10 + random.next() % 6);
    Frames frames;
    for (std::int64_t t = 0; t < kFrames; ++t) {
      Picture frame{kSide, kSide, 3, Bytes(static_cast<std::size_t>(kSide * kSide * 3), 20)};
      const std::int64_t x = middle + 2 * (t - kFrames / 2) *
                                          (kind == 0   ? 1
                                           : kind == 1 ? -1
                                                       : 0);
      for (std::int64_t v = y; v < y + 8; ++v)
        for (std::int64_t u = x; u < x + 8; ++u)
          for (std::int64_t c = 0; c < 3; ++c)
            frame.pixels[static_cast<std::size_t>((v * kSide + u) * 3 + c)] = 240;
      frames.push_back(std::move(frame));
    }
    Example clip{.id = "unit/" + std::to_string(i),
                 .source = "",
                 .targets = {kind == 2 ? "idle" : "move"}};
    clip.parts = {{"frames", std::move(frames)}};
    clips.push_back(std::move(clip));
  }
  return clips;
}

class WatchTest : public testing::Test {
 protected:
  double train(const std::string& block, const std::string& frames, int steps) {
    const nlohmann::json asked{
        {"model", {{"block", block}, {"frames", frames}, {"width", 16}, {"dropout", 0.0}}}};
    TrainingRun run = task().defaults(asked, nullptr);
    task().read(asked, "the test", run.what);
    run.how.rate = 1e-2;
    run.how.batch_tokens = 16;
    run.how.warm_up = 10;
    run.how.average = 0.9;
    run.how.evaluate_every = 1000;
    run.budget.steps = test::most_steps(steps);
    run.where.folder = scratch_.path() / (block + frames);
    Corpus corpus;
    corpus.name = "squares";
    corpus.train = squares(160, 1);
    corpus.development = squares(20, 2);
    const auto learner = task().learner(run, corpus, {});
    learner->begin(run.where.folder);
    tasks::train(*learner, run);
    return task().evaluate(*task().load(run.where.folder), squares(60, 3)).front().value;
  }

  Scratch scratch_;
};

TEST_F(WatchTest, SeesMotionThatOneFrameDoesNotShow) {
  const double all = train("embedded", "all", 150);
  const double one = train("none", "one", 100);
  if (!test::is_judged()) return;
  EXPECT_GT(all, 92.0);
  EXPECT_LT(one, 85.0);
}

TEST_F(WatchTest, EveryBlockLearnsAndIsDrawn) {
  for (const char* block : {"gaussian", "embedded", "dot", "concat"}) {
    train(block, "all", 2);
    const Answerer answerer(scratch_.path() / (std::string(block) + "all"));
    Input input;
    input.parts = squares(1, 4).front().parts;
    const Reply reply = answerer(input);
    const auto& labels = std::get<Labels>(*reply.answers.front().output);
    double sum = 0.0;
    for (const Label& label : labels) sum += label.score;
    EXPECT_NEAR(sum, 1.0, test::kFloatSum);
    const maps::Map map = answerer.model().map(input, reply.pieces.front());
    maps::validate(map);
    const auto& strip = std::get<maps::Image>(map);
    EXPECT_EQ(strip.width, static_cast<std::size_t>(4 * kSide));
    EXPECT_EQ(strip.height, static_cast<std::size_t>(2 * kSide));
    ASSERT_EQ(strip.steps.size(), 1u);
    EXPECT_EQ(strip.steps[0].grid->columns, static_cast<std::size_t>(kSide));
  }
  train("none", "all", 2);
  const Answerer none(scratch_.path() / "noneall");
  Input input;
  input.parts = squares(1, 4).front().parts;
  EXPECT_THROW(none.model().map(input, none(input).pieces.front()), InvalidArgument);
}

TEST_F(WatchTest, RefusesWhatIsNoClipAndFitsWhatIsOne) {
  train("embedded", "all", 1);
  const Answerer answerer(scratch_.path() / "embeddedall");
  const auto refusal = [&](Frames frames) {
    Input input;
    input.parts.emplace("frames", std::move(frames));
    return answerer.refusal(input);
  };
  EXPECT_NE(answerer.refusal(Input("text")), "");
  EXPECT_NE(refusal({}), "");
  EXPECT_NE(refusal(Frames(2001, Picture{1, 1, 1, {0}})), "");
  EXPECT_NE(refusal({Picture{1, 1, 4, {0, 0, 0, 0}}}), "");
  EXPECT_NE(refusal({Picture{2, 2, 1, {0}}}), "");
  EXPECT_EQ(refusal({Picture{1, 1, 1, {0}}, Picture{100, 3, 3, Bytes(900, 5)}}), "");
  Input still;
  still.parts.emplace("frames", Frames{Picture{5, 4, 1, Bytes(20, 7)}});
  EXPECT_EQ(answerer(still).notes.size(), 1u);
}

TEST(Clips, ArePackedAndReadBack) {
  std::vector<Example> clips = squares(2, 5);
  for (Example& clip : clips) {
    clip.id = "unit/one-run";
    clip.targets = {"move"};
  }
  const std::string text = watch::packed(clips);
  const auto back = watch::unpacked(text, "it");
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[1].parts, clips[1].parts);
  EXPECT_THROW(watch::unpacked(text.substr(0, text.size() - 1), "it"), FileError);
  EXPECT_THROW(watch::unpacked("unit/one-die\nmove\n", "it"), FileError);
  for (const char* unit : {"a/b", "c/d", "e/f"}) {
    EXPECT_GE(watch::fold_of(unit), 1);
    EXPECT_LE(watch::fold_of(unit), 5);
  }
}

}  // namespace
}  // namespace attn::tasks
