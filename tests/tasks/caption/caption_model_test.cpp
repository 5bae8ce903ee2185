// Captioning models: saving, damage, maps, scores, and a training that resumes bit for bit.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/captioner.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "tasks/caption/support.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

models::CaptionerOptions small(models::Looking looking) {
  return {.channels = 6, .words = 4, .hidden = 6, .score = 4, .looking = looking};
}

CaptionModel fresh(models::Looking looking) {
  nn::seed(3);
  CaptionModel model = make_caption_model(small(looking));
  model.model->eval();
  return model;
}

std::vector<std::vector<std::uint8_t>> some_canvases() {
  std::vector<std::vector<std::uint8_t>> pixels;
  for (const Example& canvas : test_canvases(toy::digits(), 3))
    pixels.push_back(std::get<Picture>(canvas.parts.at("canvas")).pixels);
  return pixels;
}

TEST(CaptionModel, ComesBackAsItWasSaved) {
  const Scratch folder;
  const CaptionModel model = fresh(models::Looking::hard);
  save_caption_model(folder.path(), model, DType::f32);
  const CaptionModel loaded = load_caption_model(folder.path());
  EXPECT_EQ(loaded.model->options().looking, models::Looking::hard);
  const auto before = caption(model, some_canvases());
  const auto after = caption(loaded, some_canvases());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].text, after[i].text);
    EXPECT_EQ(before[i].weights, after[i].weights);
  }
}

TEST(CaptionModel, DamageAndMissingFilesAreErrorsThatNameTheFile) {
  for (const char* name : {"config.json", "model.safetensors"}) {
    const Scratch folder;
    save_caption_model(folder.path(), fresh(models::Looking::soft));
    const auto path = folder.path() / name;
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    EXPECT_NE(message_of<Error>([&] { load_caption_model(folder.path()); }).find(name),
              std::string::npos);
    std::filesystem::remove(path);
    EXPECT_THROW(load_caption_model(folder.path()), Error) << name;
  }
}

TEST(CaptionModel, WeightsThatAreNotFiniteAreRefusedByName) {
  const Scratch folder;
  const CaptionModel model = fresh(models::Looking::soft);
  const auto [name, tensor] = model.model->named_parameters().back();
  tensor.mutable_data<float>()[tensor.numel() - 1] = std::numeric_limits<float>::quiet_NaN();
  save_caption_model(folder.path(), model);
  const std::string said = message_of<FileError>([&] { load_caption_model(folder.path()); });
  EXPECT_NE(said.find("model.safetensors"), std::string::npos) << said;
  EXPECT_NE(said.find(name), std::string::npos) << said;
}

TEST(CaptionModel, AConfigThatDoesNotFitIsRefused) {
  const auto complaint = [](void (*change)(nlohmann::json&)) {
    const Scratch folder;
    save_caption_model(folder.path(), fresh(models::Looking::soft));
    auto config = files::read_json(folder.path() / "config.json");
    change(config);
    files::write_json(folder.path() / "config.json", config);
    return message_of<Error>([&] { load_caption_model(folder.path()); });
  };
  EXPECT_EQ(complaint([](nlohmann::json&) {}), "");
  EXPECT_NE(complaint([](nlohmann::json& c) { c["task"] = "translate"; }).find("translate"),
            std::string::npos);
  EXPECT_NE(complaint([](nlohmann::json& c) { c["format"] = 2; }), "");
  EXPECT_NE(complaint([](nlohmann::json& c) { c["words"][4] = "nought"; }), "");
  EXPECT_NE(complaint([](nlohmann::json& c) { c["model"]["attention"] = "sideways"; }), "");
  EXPECT_NE(complaint([](nlohmann::json& c) { c["model"]["channels"] = 7; }), "");
  EXPECT_NE(complaint([](nlohmann::json& c) { c["model"]["hidden"] = 1000000000; }), "");
  EXPECT_NE(complaint([](nlohmann::json& c) { c["model"]["hidden"] = 7; }), "")
      << "sizes that are not the weights' own";
  EXPECT_NE(complaint([](nlohmann::json& c) { c["model"].erase("score"); }), "");
}

TEST(Caption, MapsHaveAStepForEachWord) {
  const CaptionModel model = fresh(models::Looking::soft);
  const auto canvases = some_canvases();
  const auto answers = caption(model, canvases);
  const maps::Map map = caption_map(answers[0], canvases[0], models::Looking::soft);
  maps::validate(map);
  const auto& image = std::get<maps::Image>(map);
  ASSERT_EQ(image.steps.size(), answers[0].target.size());
  EXPECT_EQ(image.pixels, canvases[0]);
  const std::vector<std::vector<std::uint8_t>> wrong{std::vector<std::uint8_t>(100)};
  EXPECT_THROW(caption(model, wrong), InvalidArgument);
}

TEST(CaptionScores, CountWhatIsInsideTheBox) {
  // 16 x 16 places of 4 pixels.
  std::vector<float> weights(256, 0.0f);
  weights[0] = 0.5f;   // pixels 0 to 4 across and down
  weights[17] = 0.5f;  // 4 to 8
  EXPECT_DOUBLE_EQ(share_inside(weights, {"1", 0, 0, 8, 8}), 1.0);
  EXPECT_DOUBLE_EQ(share_inside(weights, {"1", 0, 0, 4, 4}), 0.5);
  EXPECT_DOUBLE_EQ(share_inside(weights, {"1", 2, 2, 2, 2}), 0.125);
  EXPECT_DOUBLE_EQ(share_inside(weights, {"1", 30, 30, 8, 8}), 0.0);
  EXPECT_THROW(share_inside(std::span(weights).first(255), {"1", 0, 0, 8, 8}), InvalidArgument);

  Example canvas;
  canvas.targets = {"one left of two"};
  canvas.boxes = {{"1", 0, 0, 8, 8}, {"2", 40, 0, 8, 8}};
  Answer answer;
  answer.text = canvas.targets.front();
  answer.target = caption_tokens(answer.text);
  for (int step = 0; step < 5; ++step)
    answer.weights.insert(answer.weights.end(), weights.begin(), weights.end());
  const std::vector<Example> canvases{canvas};
  Scores scores = score_captions(canvases, std::vector{answer});
  EXPECT_EQ(scores[0].value, 100.0);
  EXPECT_EQ(scores[1].value, 100.0);
  EXPECT_EQ(scores[2].value, 50.0) << "the word two looked at the one";
  answer.text = "one left of three";
  answer.target = caption_tokens(answer.text);
  scores = score_captions(canvases, std::vector{answer});
  EXPECT_EQ(scores[0].value, 0.0);
  EXPECT_EQ(scores[1].value, 75.0);
}

/// Trains to `steps`, stopping after each of `stops`.
void train_in_parts(const std::filesystem::path& folder, const std::vector<std::int64_t>& stops,
                    std::int64_t steps) {
  CaptionSettings settings;
  settings.model = small(models::Looking::hard);
  settings.canvases = 2;
  TrainingRun run =
      task_named("caption").defaults({{"model", {{"attention", "hard"}}}}, nullptr);
  run.what = json_of(settings);
  run.how.evaluate_every = 10;
  run.how.evaluate_on = 2;
  run.where.folder = folder;
  const auto parts = std::make_shared<const DigitParts>(
      DigitParts{toy::digits(), toy::digits(), toy::digits()});
  for (const std::int64_t stop : stops) {
    run.budget.steps = stop;
    train(*caption_learner(run, parts), run);
    run.where.resume = Resume::yes;
  }
  run.budget.steps = steps;
  train(*caption_learner(run, parts), run);
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CaptionTraining, GoesOnBitForBit) {
  const Scratch straight;
  const Scratch broken;
  train_in_parts(straight.path(), {}, 20);
  train_in_parts(broken.path(), {10}, 20);
  EXPECT_EQ(bytes_of(straight.path() / "log.jsonl").empty(), false);
  const CaptionModel one = load_caption_model(straight.path());
  const CaptionModel other = load_caption_model(broken.path());
  EXPECT_EQ(bytes_of(straight.path() / "model.safetensors"),
            bytes_of(broken.path() / "model.safetensors"));
}

}  // namespace
}  // namespace attn::tasks
