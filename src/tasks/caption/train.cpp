#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/models/captioner.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "attn/tasks/caption/digits.hpp"
#include "attn/tasks/prepare.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/trainer.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/begin_with.hpp"
#include "tasks/caption/options_json.hpp"
#include "tasks/caption/pixels.hpp"
#include "tasks/training_loop.hpp"

namespace attn::tasks {
namespace {

/// Canvases never come twice; an epoch is only what a reader of the log counts in.
constexpr std::int64_t kCanvasesOfAnEpoch = 20000;
// Seeds of the composed parts. Training adds its own seed.
constexpr std::uint64_t kDevelopmentSeed = 0xD0;
constexpr std::uint64_t kTestSeed = 0x7E;
constexpr std::uint64_t kTrainSeed = std::uint64_t{1} << 32;

std::vector<Canvas> composed(const Digits& digits, std::uint64_t seed, std::int64_t count) {
  std::vector<Canvas> canvases;
  canvases.reserve(static_cast<std::size_t>(std::max<std::int64_t>(0, count)));
  for (std::int64_t i = 0; i < count; ++i)
    canvases.push_back(compose_canvas(digits, seed, static_cast<std::uint64_t>(i)));
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
  CaptionLearner(CaptionModel model, const CaptionPlan& plan, const DigitParts& parts)
      : model_(std::move(model)),
        plan_(plan),
        digits_(parts.train),
        development_(
            development_canvases(parts.development, plan.request.training.evaluate_on)) {
    for (const Canvas& canvas : development_) pixels_.push_back(canvas.pixels);
  }

  nn::Module& module() override { return *model_.model; }

  std::int64_t begin_epoch(std::int64_t epoch) override {
    epoch_ = epoch;
    return steps();
  }

  Lesson learn(std::int64_t step) override {
    const std::int64_t first = (epoch_ * steps() + step) * plan_.request.canvases;
    std::vector<Canvas> canvases;
    canvases.reserve(static_cast<std::size_t>(plan_.request.canvases));
    for (std::int64_t i = 0; i < plan_.request.canvases; ++i)
      canvases.push_back(compose_canvas(digits_, kTrainSeed + plan_.request.training.seed,
                                        static_cast<std::uint64_t>(first + i)));
    const models::CaptionBatch batch = caption_batch(canvases);
    const auto* target = batch.target.data<std::int64_t>();
    return {model_.model->loss(batch, plan_.request.loss),
            std::count_if(target, target + batch.target.numel(),
                          [](std::int64_t id) { return id != models::kPad; })};
  }

  Evaluation evaluate() override {
    return {score_captions(development_, caption(model_, pixels_)), {}};
  }

  bool better(const Scores& a, const Scores& b) const override {
    return a.front().value > b.front().value;
  }

  void keep(const std::string& history) override {
    model_.history = history;
    save_caption_model(plan_.folder, model_);
  }

 private:
  std::int64_t steps() const {
    return std::max<std::int64_t>(1, kCanvasesOfAnEpoch / plan_.request.canvases);
  }

  CaptionModel model_;
  const CaptionPlan& plan_;
  const Digits& digits_;
  std::vector<Canvas> development_;
  std::vector<std::vector<std::uint8_t>> pixels_;
  std::int64_t epoch_ = 0;
};

std::string caption_what(const CaptionRequest& request) {
  return nlohmann::json{{"task", "caption"},
                        {"model", json_of(request.model)},
                        {"doubly", request.loss.doubly},
                        {"reward", request.loss.reinforce.lambda_r},
                        {"entropy", request.loss.reinforce.lambda_e},
                        {"soft_probability", request.loss.soft_probability},
                        {"training", files::parse_json(to_json(request.training), "training")},
                        {"canvases", request.canvases},
                        {"begin", request.begin.string()}}
      .dump();
}

}  // namespace

std::vector<Canvas> development_canvases(const Digits& development, std::int64_t count) {
  return composed(development, kDevelopmentSeed, count);
}

std::vector<Canvas> test_canvases(const Digits& test, std::int64_t count) {
  return composed(test, kTestSeed, count);
}

Trained train_caption(const CaptionPlan& plan, const DigitParts& parts, const Watch& watch) {
  const CaptionRequest& request = plan.request;
  if (request.canvases < 1)
    fail("attn::tasks::train_caption: ", request.canvases, " canvases a step; at least 1");
  nn::random() = Random(request.training.seed).named("weights");
  CaptionModel model = make_caption_model(request.model);
  // What goes on has its weights in the checkpoint.
  if (!request.begin.empty() && plan.resume == Resume::no) {
    const Beginning other{load_caption_model(request.begin).model, request.begin};
    begin_with(*model.model, {&other, 1});
  }
  CaptionLearner learner(std::move(model), plan, parts);
  return run_training(learner,
                      {.options = request.training,
                       .budget = plan.budget,
                       .folder = plan.folder,
                       .what = caption_what(request),
                       .command = request.command,
                       .data = R"({"name": "MNIST"})",
                       .resume = plan.resume,
                       .save_every = plan.save_every,
                       .shard_bytes = plan.shard_bytes,
                       .device = plan.device,
                       .precision = plan.precision},
                      watch);
}

}  // namespace attn::tasks
