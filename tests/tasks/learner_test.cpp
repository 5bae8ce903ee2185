#include "attn/tasks/learner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/pair_learner.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "tasks/scratch.hpp"
#include "tasks/support/toy.hpp"

namespace attn::tasks {
namespace {

using Folder = Scratch;

/// The losses of a log, as they were written.
std::vector<double> losses(const std::filesystem::path& folder) {
  std::vector<double> found;
  std::ifstream log(folder / "log.jsonl");
  for (std::string line; std::getline(log, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("loss")) found.push_back(json["loss"].get<double>());
  }
  return found;
}

std::string bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Trains to `steps`, stopping after each of `stops` to go on with everything fresh.
Trained train_with_stops(const std::filesystem::path& folder, std::int64_t steps,
                         const std::vector<std::int64_t>& stops,
                         std::uint64_t shard_bytes = 0) {
  Trained trained;
  auto resume = Resume::no;
  for (std::size_t i = 0; i <= stops.size(); ++i) {
    PairModel model = toy::model();
    toy::Plan plan = toy::plan(model, folder);
    plan.run.budget.steps = steps;
    plan.run.where.resume = resume;
    plan.run.where.shard_bytes = shard_bytes;
    std::int64_t seen = i == 0 ? 0 : stops[i - 1];
    const auto stop = [&] { return i < stops.size() && ++seen >= stops[i]; };
    trained = train(model, plan, {.progress = {}, .stop = stop});
    resume = Resume::yes;
  }
  return trained;
}

TEST(Train, ARunThatWasInterruptedIsTheUninterruptedOneBitForBit) {
  const Folder straight;
  const Folder broken;
  const Trained one = train_with_stops(straight.path(), 60, {});
  const Trained other = train_with_stops(broken.path(), 60, {7, 25, 38});
  EXPECT_EQ(one.steps, 60);
  EXPECT_EQ(other.steps, 60);
  ASSERT_EQ(losses(straight.path()).size(), 6u);
  EXPECT_EQ(losses(straight.path()), losses(broken.path()));
  EXPECT_EQ(bytes(straight.path() / "model.safetensors"),
            bytes(broken.path() / "model.safetensors"));
}

TEST(Train, ACheckpointInShardsGoesOnBitForBit) {
  constexpr std::uint64_t kShard = 16384;  // smaller than some of the toy's arrays
  const Folder straight;
  const Folder broken;
  train_with_stops(straight.path(), 30, {});
  train_with_stops(broken.path(), 30, {7, 25}, kShard);
  EXPECT_EQ(losses(straight.path()), losses(broken.path()));
  std::size_t shards = 0;
  for (const auto& entry : std::filesystem::directory_iterator(broken.path()))
    if (const std::string name = entry.path().filename().string();
        name.starts_with("checkpoint.step-")) {
      ++shards;
      EXPECT_LE(entry.file_size(), kShard) << name;
      EXPECT_TRUE(name.starts_with("checkpoint.step-30.")) << name << " is an old one";
    }
  EXPECT_GT(shards, 3u);
  // Without the option the next one is a single file again.
  PairModel model = toy::model();
  toy::Plan plan = toy::plan(model, broken.path());
  plan.run.budget.steps = 31;
  plan.run.where.resume = Resume::yes;
  train(model, plan, {});
  for (const auto& entry : std::filesystem::directory_iterator(broken.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with("checkpoint.step-"));
}

TEST(Train, AShardThatIsMissingIsAnError) {
  const Folder folder;
  train_with_stops(folder.path(), 5, {}, 16384);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().filename().string().starts_with("checkpoint.step-5.1-of-")) {
      std::filesystem::remove(entry.path());
      break;
    }
  PairModel model = toy::model();
  toy::Plan plan = toy::plan(model, folder.path());
  plan.run.budget.steps = 10;
  plan.run.where.resume = Resume::yes;
  EXPECT_THROW(train(model, plan, {}), FileError);
}

TEST(Train, FromItsOwnAnswersAloneAModelLearnsWhatScoresBetter) {
  const Folder first;
  const Folder second;
  PairModel model = toy::model();
  toy::Plan plan = toy::plan(model, first.path());
  plan.run.budget.steps = 50;
  const double taught = train(model, plan, {}).best.front().value;
  EXPECT_GT(taught, 15.0) << "there is nothing left to learn";
  plan.run.where.folder = second.path();
  plan.run.how.self_critical = 1.0;  // no right answer is shown any more
  plan.run.how.rate = 2e-3;
  plan.run.how.batch_tokens = 1600;
  plan.run.budget.steps = 75;
  EXPECT_LT(train(model, plan, {}).best.front().value, 0.6 * taught);
}

TEST(Train, ACriticalRunThatWasInterruptedIsTheUninterruptedOneBitForBit) {
  const Folder straight;
  const Folder broken;
  for (const bool stops : {false, true}) {
    const Folder& folder = stops ? broken : straight;
    for (const std::int64_t until : {7, 20}) {
      if (!stops && until == 7) continue;
      PairModel model = toy::model();
      toy::Plan plan = toy::plan(model, folder.path());
      plan.run.how.self_critical = 0.5;
      plan.run.budget.steps = until;
      plan.run.where.resume = stops && until == 20 ? Resume::yes : Resume::no;
      train(model, plan, {});
    }
  }
  EXPECT_EQ(losses(straight.path()), losses(broken.path()));
}

TEST(Train, ThreadsChangeNothing) {
  const Folder one;
  const Folder three;
  const int before = ThreadPool::default_threads();
  ThreadPool::set_default_threads(1);
  train_with_stops(one.path(), 20, {});
  ThreadPool::set_default_threads(3);
  train_with_stops(three.path(), 20, {});
  ThreadPool::set_default_threads(before);
  EXPECT_EQ(losses(one.path()), losses(three.path()));
}

TEST(Train, LearnsAndTheModelInTheFolderIsTheOneThatWasScored) {
  const Folder folder;
  PairModel model = toy::model();
  toy::Plan plan = toy::plan(model, folder.path());
  plan.run.budget.steps = 500;
  const Trained trained = train(model, plan, {});
  ASSERT_FALSE(trained.best.empty());
  EXPECT_LT(trained.best[0].value, 5.0) << "phones wrong of a hundred";
  const PairModel loaded = load_model(folder.path());
  EXPECT_EQ(loaded.task, "pronounce");
  // bf16 rounds the weights, so a few may differ.
  EXPECT_LT(evaluate(loaded, toy::backwards(64), Metric::phones, {})[0].value, 6.0);
}

TEST(Train, StopsWhenTheScoreGetsNoBetter) {
  const Folder folder;
  PairModel model = toy::model();
  toy::Plan plan = toy::plan(model, folder.path());
  plan.run.how.rate = 1e-9;  // learns nothing
  plan.run.how.evaluate_every = 2;
  plan.run.how.patience = 3;
  const Trained trained = train(model, plan, {});
  EXPECT_EQ(trained.ended, TrainingEnd::no_better);
  EXPECT_LE(trained.steps, 2 * (1 + 3 + 3));
}

TEST(Train, RefusesACheckpointOfAnotherTraining) {
  const Folder folder;
  train_with_stops(folder.path(), 5, {});
  PairModel model = toy::model();
  toy::Plan plan = toy::plan(model, folder.path());
  plan.run.budget.steps = 10;
  plan.run.where.resume = Resume::yes;
  plan.lessons.identity = "something else";
  EXPECT_THROW(train(model, plan, {}), InvalidArgument);
}

TEST(Train, ADamagedCheckpointIsAnErrorAndStaysWhereItIs) {
  const Folder folder;
  train_with_stops(folder.path(), 5, {});
  const auto path = folder.path() / "checkpoint.safetensors";
  std::filesystem::resize_file(path, 1000);
  PairModel model = toy::model();
  toy::Plan plan = toy::plan(model, folder.path());
  plan.run.budget.steps = 10;
  plan.run.where.resume = Resume::yes;
  EXPECT_THROW(train(model, plan, {}), FileError);
  EXPECT_EQ(std::filesystem::file_size(path), 1000u);
}

TEST(Train, ACheckpointThatStandsBehindItsEpochIsDamaged) {
  const Folder folder;
  train_with_stops(folder.path(), 15, {});
  const auto path = folder.path() / "checkpoint.safetensors";
  const std::string log = bytes(folder.path() / "log.jsonl");
  PairModel model = toy::model();
  toy::Plan plan = toy::plan(model, folder.path());
  const auto batches =
      make_batches(plan.lessons.train, plan.run.how.batch_tokens, plan.run.how.seed, 0).size();
  plan.run.budget.steps = 20;
  plan.run.where.resume = Resume::yes;
  const files::Safetensors file = files::read_safetensors(path);
  for (const std::int64_t batch :
       {std::int64_t{1000000000}, std::int64_t{-5}, static_cast<std::int64_t>(batches)}) {
    files::Metadata metadata = file.metadata();
    auto state = nlohmann::json::parse(metadata.at("training"));
    state["batch"] = batch;
    state["epoch"] = 0;
    state["steps"] = 5;  // lines of the log lie beyond it
    metadata["training"] = state.dump();
    files::write_safetensors(path, file.tensors(), metadata);
    const std::string said = message_of<FileError>([&] { train(model, plan, {}); });
    EXPECT_NE(said.find("is damaged: batch is " + std::to_string(batch)), std::string::npos)
        << said;
    EXPECT_EQ(bytes(folder.path() / "log.jsonl"), log);
  }
}

TEST(Train, TheFirstStepIsSavedAndTheLogIsReadableAtOnce) {
  const Folder folder;
  PairModel model = toy::model();
  toy::Plan plan = toy::plan(model, folder.path());
  plan.run.budget.steps = 100;
  plan.run.how.evaluate_every = 20;
  bool saved_after_one = false;
  std::size_t most_missing = 0;
  std::int64_t steps = 0;
  const auto stop = [&] {
    ++steps;
    if (steps == 2)
      saved_after_one = std::filesystem::exists(folder.path() / "checkpoint.safetensors");
    // What a kill here would leave: no line that was told of is missing.
    const auto told = static_cast<std::size_t>(steps / 10);
    const std::size_t there = losses(folder.path()).size();
    most_missing = std::max(most_missing, told - std::min(told, there));
    return steps == 45;
  };
  train(model, plan, {.progress = {}, .stop = stop});
  EXPECT_TRUE(saved_after_one);
  EXPECT_EQ(most_missing, 0u);
  const std::string log = bytes(folder.path() / "log.jsonl");
  EXPECT_NE(log.find("\"event\":\"begin\""), std::string::npos) << log;
  EXPECT_NE(log.find("\"samples\":[{\"answer\":"), std::string::npos) << log;
  EXPECT_NE(log.find("\"why\":\"stopped\""), std::string::npos) << log;
}

TEST(Train, WithoutAnEndOrDataIsRefused) {
  const Folder folder;
  PairModel model = toy::model();
  toy::Plan plan = toy::plan(model, folder.path());
  EXPECT_THROW(train(model, plan, {}), InvalidArgument) << "no budget and no patience";
  plan.run.budget.steps = 1;
  plan.run.on.precision = Precision::bf16;
  EXPECT_THROW(train(model, plan, {}), InvalidArgument) << "bf16 is built on the GPU";
  plan.run.on.precision = Precision::f32;
  plan.lessons.train.clear();
  EXPECT_THROW(train(model, plan, {}), InvalidArgument);
}

}  // namespace
}  // namespace attn::tasks
