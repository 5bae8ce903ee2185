#include "attn/tasks/learner.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/models/captioner.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/model_folder.hpp"

namespace attn::tasks {
namespace {

/// How much of [begin, begin + size) the interval [from, from + length) covers, of 1.
double overlap(double begin, double size, double from, double length) {
  const double shared = std::min(begin + size, from + length) - std::max(begin, from);
  return std::max(0.0, shared) / size;
}

/// The weights of the k-th word that names a digit; none when fewer were named.
std::span<const float> weights_of_digit(const Answer& answer, std::size_t k) {
  for (std::size_t i = 0; i < answer.target.size(); ++i)
    if (digit_named(answer.target[i]) >= 0 && k-- == 0) return caption_weights(answer, i);
  return {};
}

double percent(double part, double whole) {
  return whole > 0.0 ? 100.0 * part / whole : 0.0;
}

/// Canvases never come twice; an epoch is only what a reader of the log counts in.
constexpr std::int64_t kCanvasesOfAnEpoch = 20000;
// Seeds of the composed parts. Training adds its own seed.
constexpr std::uint64_t kDevelopmentSeed = 0xD0;
constexpr std::uint64_t kTestSeed = 0x7E;
constexpr std::uint64_t kTrainSeed = std::uint64_t{1} << 32;

std::vector<Example> composed(const Digits& digits, std::uint64_t seed, std::int64_t count) {
  std::vector<Example> canvases;
  canvases.reserve(static_cast<std::size_t>(std::max<std::int64_t>(0, count)));
  for (std::uint64_t i = 0; canvases.size() < canvases.capacity(); ++i)
    canvases.push_back(example_of(compose_canvas(digits, seed, i), i));
  return canvases;
}

models::CaptionBatch caption_batch(const std::vector<Canvas>& canvases) {
  std::vector<std::vector<std::uint8_t>> pixels;
  std::vector<std::vector<std::int64_t>> captions;
  std::size_t steps = 1;
  for (const Canvas& canvas : canvases) {
    pixels.push_back(canvas.pixels);
    captions.push_back(caption_tokens(canvas.caption));
    steps = std::max(steps, captions.back().size() + 1);
  }
  std::vector<std::int64_t> input(canvases.size() * steps, models::kPad);
  std::vector<std::int64_t> target(canvases.size() * steps, models::kPad);
  for (std::size_t row = 0; row < captions.size(); ++row) {
    const auto& caption = captions[row];
    const auto first = static_cast<std::ptrdiff_t>(row * steps);
    input[row * steps] = models::kBos;
    std::copy(caption.begin(), caption.end(), input.begin() + first + 1);
    std::copy(caption.begin(), caption.end(), target.begin() + first);
    target[row * steps + caption.size()] = models::kEos;
  }
  const Shape shape{static_cast<std::int64_t>(canvases.size()),
                    static_cast<std::int64_t>(steps)};
  return {canvas_tensor(pixels), Tensor::from(input, shape), Tensor::from(target, shape)};
}

class CaptionLearner final : public Learner {
 public:
  CaptionLearner(CaptionModel model, const TrainingRun& run,
                 std::shared_ptr<const DigitParts> parts)
      : model_(std::move(model)),
        settings_(caption_settings(run.what, "the settings")),
        begin_(run.begin.empty() ? "" : run.begin.front().string()),
        how_(run.how),
        parts_(std::move(parts)),
        development_(development_canvases(parts_->development, run.how.evaluate_on)) {
    for (const Example& canvas : development_)
      pixels_.push_back(std::get<Picture>(canvas.parts.at("canvas")).pixels);
  }

  nn::Module& module() override { return *model_.model; }

  std::int64_t begin_epoch(std::int64_t epoch) override {
    epoch_ = epoch;
    return steps();
  }

  Lesson learn(std::int64_t step) override {
    const std::int64_t first = (epoch_ * steps() + step) * settings_.canvases;
    std::vector<Canvas> canvases;
    canvases.reserve(static_cast<std::size_t>(settings_.canvases));
    for (std::int64_t i = 0; i < settings_.canvases; ++i)
      canvases.push_back(compose_canvas(parts_->train, kTrainSeed + how_.seed,
                                        static_cast<std::uint64_t>(first + i)));
    const models::CaptionBatch batch = caption_batch(canvases);
    const auto* target = batch.target.data<std::int64_t>();
    return {model_.model->loss(batch, settings_.loss),
            std::count_if(target, target + batch.target.numel(),
                          [](std::int64_t id) { return id != models::kPad; })};
  }

  Evaluation evaluate() override {
    return {score_captions(development_, caption(model_, pixels_)), {}};
  }

  void save(const std::filesystem::path& folder, const std::string& history) override {
    model_.history = history;
    save_caption_model(folder, model_);
  }

  std::string identity() const override {
    return nlohmann::json{{"task", "caption"},
                          {"model", json_of(settings_).at("model")},
                          {"doubly", settings_.loss.doubly},
                          {"reward", settings_.loss.reinforce.lambda_r},
                          {"entropy", settings_.loss.reinforce.lambda_e},
                          {"soft_probability", settings_.loss.soft_probability},
                          {"training", json_of(how_)},
                          {"canvases", settings_.canvases},
                          {"begin", begin_}}
        .dump();
  }
  nlohmann::json data() const override { return {{"name", "MNIST"}}; }
  std::string about() const override {
    return std::to_string(parts_->train.size()) + " digits to compose canvases of, " +
           std::to_string(parts_->development.size()) + " for development; " +
           models::name_of(settings_.model.looking) + " attention";
  }

 private:
  std::int64_t steps() const {
    return std::max<std::int64_t>(1, kCanvasesOfAnEpoch / settings_.canvases);
  }

  CaptionModel model_;
  CaptionSettings settings_;
  std::string begin_;
  TrainingOptions how_;
  std::shared_ptr<const DigitParts> parts_;
  std::vector<Example> development_;
  std::vector<std::vector<std::uint8_t>> pixels_;
  std::int64_t epoch_ = 0;
};

}  // namespace

Example example_of(Canvas canvas, std::size_t index) {
  std::string number = std::to_string(index);
  number.insert(0, 4 - std::min<std::size_t>(4, number.size()), '0');
  Example example{.id = "canvas-" + number, .source = "", .targets = {canvas.caption}};
  for (const PlacedDigit& digit : canvas.digits)
    example.boxes.push_back(
        {std::to_string(digit.digit), digit.x, digit.y, digit.width, digit.height});
  example.parts.emplace("canvas",
                        Picture{kCanvasSide, kCanvasSide, 1, std::move(canvas.pixels)});
  return example;
}

std::vector<Example> development_canvases(const Digits& development, std::int64_t count) {
  return composed(development, kDevelopmentSeed, count);
}

std::vector<Example> test_canvases(const Digits& test, std::int64_t count) {
  return composed(test, kTestSeed, count);
}

std::unique_ptr<Learner> caption_learner(const TrainingRun& run,
                                         std::shared_ptr<const DigitParts> parts) {
  const CaptionSettings settings = caption_settings(run.what, "the settings");
  if (run.begin.size() > 1)
    fail("caption begins with one model, not with the mean of ", run.begin.size());
  nn::random() = Random(run.how.seed).named("weights");
  CaptionModel model = make_caption_model(settings.model);
  // A run that is resumed has its weights in the checkpoint.
  if (!run.begin.empty() && run.where.resume == Resume::no) {
    const Beginning other{load_caption_model(run.begin.front()).model, run.begin.front()};
    begin_with(*model.model, {&other, 1});
  }
  return std::make_unique<CaptionLearner>(std::move(model), run, std::move(parts));
}

double share_inside(std::span<const float> weights, const Box& box) {
  const std::int64_t grid = std::lround(std::sqrt(static_cast<double>(weights.size())));
  if (grid < 1 || weights.size() != static_cast<std::size_t>(grid * grid))
    fail("attn::tasks::share_inside: ", weights.size(), " weights are no square grid");
  const double cell = static_cast<double>(kCanvasSide) / static_cast<double>(grid);
  double inside = 0.0;
  for (std::int64_t i = 0; i < grid * grid; ++i) {
    const std::int64_t row = i / grid;
    const double across = overlap(static_cast<double>(i % grid) * cell, cell,
                                  static_cast<double>(box.x), static_cast<double>(box.width));
    const double down = overlap(static_cast<double>(row) * cell, cell,
                                static_cast<double>(box.y), static_cast<double>(box.height));
    inside += static_cast<double>(weights[static_cast<std::size_t>(i)]) * across * down;
  }
  return inside;
}

Scores score_captions(std::span<const Example> canvases, std::span<const Answer> answers) {
  if (canvases.size() != answers.size())
    fail("attn::tasks::score_captions: ", answers.size(), " answers for ", canvases.size(),
         " canvases");
  double exact = 0.0;
  double right = 0.0;
  double words = 0.0;
  double inside = 0.0;
  double digits = 0.0;
  for (std::size_t i = 0; i < canvases.size(); ++i) {
    const Example& canvas = canvases[i];
    const Answer& answer = answers[i];
    if (answer.text == canvas.targets.front()) exact += 1.0;
    const std::vector<std::int64_t> truth = caption_tokens(canvas.targets.front());
    const std::vector<std::int64_t>& said = answer.target;
    words += static_cast<double>(truth.size());
    for (std::size_t t = 0; t < std::min(truth.size(), said.size()); ++t)
      if (truth[t] == said[t]) right += 1.0;
    digits += static_cast<double>(canvas.boxes.size());
    for (std::size_t k = 0; k < canvas.boxes.size(); ++k)
      if (const auto weights = weights_of_digit(answer, k); !weights.empty())
        inside += share_inside(weights, canvas.boxes[k]);
  }
  return {{"exact", percent(exact, static_cast<double>(canvases.size()))},
          {"words", percent(right, words)},
          {"inside", percent(inside, digits)}};
}

}  // namespace attn::tasks
