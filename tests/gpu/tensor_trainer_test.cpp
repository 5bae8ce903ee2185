// Training of a task on the GPU, in f32 and in bf16: it learns, and a run that was interrupted
// has the losses of one that was not.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/pair_learner.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"
#include "tasks/scratch.hpp"
#include "tasks/support/toy.hpp"

namespace attn::tasks {
namespace {

std::vector<double> losses(const std::filesystem::path& folder) {
  std::vector<double> found;
  std::ifstream log(folder / "log.jsonl");
  for (std::string line; std::getline(log, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("loss")) found.push_back(json["loss"].get<double>());
  }
  return found;
}

/// Trains on the GPU to `steps`, stopping after each of `stops` to go on with everything fresh.
Trained train_with_stops(const std::filesystem::path& folder, Precision precision,
                         std::int64_t steps, const std::vector<std::int64_t>& stops) {
  Trained trained;
  for (std::size_t i = 0; i <= stops.size(); ++i) {
    PairModel model = toy::model();
    toy::Plan plan = toy::plan(model, folder);
    plan.run.budget.steps = steps;
    plan.run.where.resume = i == 0 ? Resume::no : Resume::yes;
    plan.run.on.device = Device::gpu;
    plan.run.on.precision = precision;
    std::int64_t seen = i == 0 ? 0 : stops[i - 1];
    const auto stop = [&] { return i < stops.size() && ++seen >= stops[i]; };
    trained = train(model, plan, {.progress = {}, .stop = stop});
  }
  return trained;
}

TEST(GpuTrainer, ARunThatWasInterruptedHasTheLossesOfOneThatWasNot) {
  SKIP_WITHOUT_GPU();
  gpu::set_determinism(gpu::Determinism::repeatable);
  for (const Precision precision : {Precision::f32, Precision::bf16}) {
    const Scratch straight;
    const Scratch broken;
    train_with_stops(straight.path(), precision, 40, {});
    train_with_stops(broken.path(), precision, 40, {7, 25});
    ASSERT_EQ(losses(straight.path()).size(), 4u);
    EXPECT_EQ(losses(straight.path()), losses(broken.path())) << name_of(precision);
  }
  gpu::set_determinism(gpu::Determinism::fast);
}

TEST(GpuTrainer, InBf16ItLearnsAndTheModelInTheFolderAnswers) {
  SKIP_WITHOUT_GPU();
  const Scratch folder;
  const Trained trained = train_with_stops(folder.path(), Precision::bf16, 500, {});
  ASSERT_FALSE(trained.best.empty());
  EXPECT_LT(trained.best[0].value, 8.0) << "phones wrong of a hundred";
  const PairModel loaded = load_model(folder.path());
  EXPECT_LT(evaluate(loaded, toy::backwards(64), Metric::phones, {})[0].value, 9.0);
}

TEST(GpuTrainer, ACheckpointOfAnotherPrecisionIsRefused) {
  SKIP_WITHOUT_GPU();
  const Scratch folder;
  train_with_stops(folder.path(), Precision::f32, 5, {});
  PairModel model = toy::model();
  toy::Plan plan = toy::plan(model, folder.path());
  plan.run.budget.steps = 10;
  plan.run.where.resume = Resume::yes;
  plan.run.on.device = Device::gpu;
  plan.run.on.precision = Precision::bf16;
  EXPECT_THROW(train(model, plan, {}), InvalidArgument);
}

}  // namespace
}  // namespace attn::tasks
