// Captioners on the GPU: losses, gradients, draws and captions of the CPU.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/captioner.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/hard/hard_attention.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"
#include "support/tolerance.hpp"
#include "tasks/caption/support.hpp"
#include "tasks/scratch.hpp"

namespace attn::test {
namespace {

using models::Captioner;
using models::Looking;

constexpr std::int64_t kRows = 6;
constexpr std::int64_t kSide = 16;  // 4 x 4 places
constexpr std::int64_t kPlaces = 16;
constexpr std::int64_t kCaptionSteps = 5;
constexpr std::int64_t kCaptionWords = 12;

Captioner captioner(Looking looking, Device device, DType dtype = DType::f32) {
  nn::seed(8);
  Captioner model({.vocabulary = kCaptionWords,
                   .side = kSide,
                   .channels = 12,
                   .words = 8,
                   .hidden = 16,
                   .score = 8,
                   .looking = looking});
  model.to(dtype);
  model.to(device);
  return model;
}

/// Noise with captions of noise; two of them are short.
models::CaptionBatch draw_captions(attn::Random& random, DType dtype = DType::f32) {
  models::CaptionBatch batch{
      uniform({kRows, kSide, kSide}, 0.0, 1.0, random, dtype),
      random_integers({kRows, kCaptionSteps}, models::kUnknown + 1, kCaptionWords, random),
      Tensor::full({kRows, kCaptionSteps}, static_cast<double>(models::kEos), DType::i64)};
  batch.input.select(1, 0).fill(static_cast<double>(models::kBos));
  batch.target.slice(1, 0, kCaptionSteps - 1).copy_from(batch.input.slice(1, 1, kCaptionSteps));
  const auto pad = static_cast<double>(models::kPad);
  batch.input.slice(0, 0, 2).slice(1, 3, kCaptionSteps).fill(pad);
  batch.target.slice(0, 0, 2).slice(1, 2, 3).fill(static_cast<double>(models::kEos));
  batch.target.slice(0, 0, 2).slice(1, 3, kCaptionSteps).fill(pad);
  return batch;
}

/// Hard attention at places that are given: a draw may differ where rounding decides it.
Tensor loss_of(Captioner& model, const models::CaptionBatch& batch, attn::Random& random) {
  if (model.options().looking == Looking::soft) return model.loss(batch, {.doubly = 0.1});
  const Tensor places = random_integers({kRows, kCaptionSteps}, 0, kPlaces, random);
  const Tensor soft = random_integers({kRows}, 0, 2, random).to(DType::boolean);
  return model.reinforce(batch, model.read(batch, places, soft),
                         {.lambda_r = 0.1, .lambda_e = 0.01, .decay = 0.9}, soft);
}

std::vector<double> caption_losses(Looking looking, Device device, DType dtype = DType::f32) {
  Captioner model = captioner(looking, device);
  nn::Adam optimiser = nn::adam_w(model, 0.01);
  if (dtype != DType::f32) optimiser.keep_masters(dtype);
  attn::Random random(31);
  std::vector<double> losses;
  for (int step = 0; step < 100; ++step) {
    const models::CaptionBatch batch = draw_captions(random);
    const Tensor loss = loss_of(model, batch, random);
    optimiser.zero_grad();
    loss.backward();
    nn::clip_gradients(model, 1.0);
    optimiser.step(1e-3);
    losses.push_back(loss.item());
  }
  return losses;
}

TEST(GpuCaptioner, GivesTheLossesOfTheCpu) {
  SKIP_WITHOUT_GPU();
  gpu::set_determinism(gpu::Determinism::repeatable);
  for (const Looking looking : {Looking::soft, Looking::hard}) {
    const std::vector<double> want = caption_losses(looking, Device::cpu);
    const std::vector<double> got = caption_losses(looking, Device::gpu);
    expect_losses_near(got, want, name_of(looking));
    EXPECT_EQ(caption_losses(looking, Device::gpu), got) << "repeatable training";
  }
  gpu::set_determinism(gpu::Determinism::fast);
}

TEST(GpuCaptioner, GradientsAreThoseOfTheCpu) {
  SKIP_WITHOUT_GPU();
  for (const Looking looking : {Looking::soft, Looking::hard}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      Captioner here = captioner(looking, Device::cpu, dtype);
      Captioner there = captioner(looking, Device::gpu, dtype);
      for (Captioner* model : {&here, &there}) {
        attn::Random random(32);
        const models::CaptionBatch batch = draw_captions(random, dtype);
        loss_of(*model, batch, random).backward();
      }
      const auto want = here.named_parameters();
      const auto got = there.named_parameters();
      for (std::size_t i = 0; i < want.size(); ++i)
        expect_close(got[i].tensor.grad(), want[i].tensor.grad(), gpu_tolerance(dtype, 1024),
                     named(std::string(name_of(looking)) + " " + want[i].name, dtype));
    }
  }
}

TEST(GpuCaptioner, DrawsAreThoseOfTheCpu) {
  SKIP_WITHOUT_GPU();
  const Tensor scores = random_tensor("scores", {7, 5, 40}, -2.0, 2.0, DType::f32);
  const auto draws = [&](Device device) {
    attn::Random random(33);
    return nn::draw_locations(scores.to(device), {}, random).to_vector<std::int64_t>();
  };
  EXPECT_EQ(draws(Device::gpu), draws(Device::cpu));
  const Tensor annotations = random_tensor("annotations", {7, 40, 6}, -1.0, 1.0, DType::f32);
  const auto best = [&](Device device) {
    return nn::hard_attention_best(scores.to(device), annotations.to(device)).index;
  };
  EXPECT_EQ(best(Device::gpu).to_vector<std::int64_t>(),
            best(Device::cpu).to_vector<std::int64_t>());
}

TEST(GpuCaptioner, ALocationThatIsNoneIsReported) {
  SKIP_WITHOUT_GPU();
  const Tensor annotations = Tensor::zeros({2, 3, 4}, DType::f32, Device::gpu);
  for (const std::int64_t place : {-2, 3}) {
    const Tensor sample = Tensor::from(std::vector<std::int64_t>{-1, place}, {2, 1});
    EXPECT_THROW(
        {
          nn::annotations_at(annotations, sample.to(Device::gpu));
          gpu::synchronise();
        },
        Error)
        << place;
  }
}

TEST(GpuCaptioner, SaysWhatItSaysOnTheCpu) {
  SKIP_WITHOUT_GPU();
  for (const Looking looking : {Looking::soft, Looking::hard}) {
    Captioner here = captioner(looking, Device::cpu);
    Captioner there = captioner(looking, Device::gpu);
    here.eval();
    there.eval();
    attn::Random random(34);
    const Tensor canvases = draw_captions(random).canvas;
    const auto want = here.describe(canvases, 6);
    const auto got = there.describe(canvases, 6);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(got[i].words, want[i].words);
      EXPECT_NEAR(got[i].log_probability, want[i].log_probability, test::kFloatModel);
      ASSERT_EQ(got[i].weights.size(), want[i].weights.size());
      for (std::size_t j = 0; j < want[i].weights.size(); ++j)
        ASSERT_NEAR(got[i].weights[j], want[i].weights[j], test::kFloatSum);
    }
  }
}

TEST(GpuCaptioner, LearnsInBf16AsInF32) {
  SKIP_WITHOUT_GPU();
  for (const Looking looking : {Looking::soft, Looking::hard}) {
    const std::vector<double> want = caption_losses(looking, Device::gpu);
    const std::vector<double> got = caption_losses(looking, Device::gpu, DType::bf16);
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 0.05 * (1.0 + std::fabs(want[i])))
          << name_of(looking) << ", step " << i;
  }
}

/// One batch by heart, with draws of its own.
TEST(GpuCaptioner, BothWaysToLookLearn) {
  SKIP_WITHOUT_GPU();
  for (const Looking looking : {Looking::soft, Looking::hard}) {
    Captioner model = captioner(looking, Device::gpu);
    nn::Adam optimiser = nn::adam_w(model, 0.0);
    attn::Random random(35);
    const models::CaptionBatch batch = draw_captions(random);
    for (int i = 0; i < 250; ++i) {
      optimiser.zero_grad();
      model.loss(batch, {.doubly = 0.01}).backward();
      optimiser.step(0.01);
    }
    model.eval();
    const NoGrad off_the_tape;
    EXPECT_LT(model.loss(batch, {.doubly = 0.0}).item(), 0.3) << name_of(looking);
  }
}

std::vector<double> train_in_parts(Looking looking, tasks::Precision precision,
                                   const std::vector<std::int64_t>& stops) {
  const tasks::Scratch folder;
  tasks::CaptionSettings settings;
  settings.model = {.channels = 6, .words = 4, .hidden = 6, .score = 4, .looking = looking};
  settings.canvases = 2;
  tasks::TrainingRun run = tasks::task_named("caption").defaults(
      {{"model", {{"attention", name_of(looking)}}}}, nullptr);
  run.what = tasks::json_of(settings);
  run.how.evaluate_every = 20;
  run.how.evaluate_on = 2;
  run.where.folder = folder.path();
  run.on = {Device::gpu, precision};
  const tasks::Digits digits = tasks::toy::digits();
  const auto parts =
      std::make_shared<const tasks::DigitParts>(tasks::DigitParts{digits, digits, digits});
  for (const std::int64_t stop : stops) {
    run.budget.steps = stop;
    tasks::train(*tasks::caption_learner(run, parts), run);
    run.where.resume = tasks::Resume::yes;
  }
  tasks::load_caption_model(folder.path());
  std::vector<double> found;
  std::ifstream log(folder.path() / "log.jsonl");
  for (std::string line; std::getline(log, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("loss")) found.push_back(json["loss"].get<double>());
  }
  return found;
}

TEST(GpuCaptioner, ATrainingGoesOnBitForBit) {
  SKIP_WITHOUT_GPU();
  gpu::set_determinism(gpu::Determinism::repeatable);
  for (const Looking looking : {Looking::soft, Looking::hard}) {
    for (const tasks::Precision precision : {tasks::Precision::f32, tasks::Precision::bf16}) {
      const std::vector<double> straight = train_in_parts(looking, precision, {40});
      EXPECT_EQ(straight.size(), 4u);
      EXPECT_EQ(train_in_parts(looking, precision, {20, 40}), straight)
          << name_of(looking) << " " << tasks::name_of(precision);
    }
  }
  gpu::set_determinism(gpu::Determinism::fast);
}

}  // namespace
}  // namespace attn::test
