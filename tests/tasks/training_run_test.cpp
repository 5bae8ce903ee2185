// What a training was asked, as a file that can be read again, and written by hand.

#include "attn/tasks/training_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/storage.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

TrainingRun run_of(const char* task) {
  return task_named(task).defaults({}, nullptr);
}

TEST(TrainingRun, WhatIsSavedIsReadBackEqual) {
  const Scratch scratch;
  TrainingRun run = run_of("pairs");
  run.what.update(
      {{"data", "/a/b.csv"}, {"data_sha256", "abc"}, {"source_column", "question"}});
  run.what["model"]["dim"] = 48;
  run.what["limits"] = {{"source", 7}, {"target", 9}};
  run.how.rate = 0.00123;
  run.how.seed = 18446744073709551615u;
  run.begin = {"/m/one"};
  run.budget = {.steps = 5, .epochs = 0, .minutes = 1.5};
  run.on = {Device::gpu, Precision::bf16};
  run.where = {.folder = scratch.path(),
               .resume = Resume::no,
               .command = "attn train pairs",
               .save_every = 3,
               .shard_bytes = std::uint64_t{4} << 20};
  save_run(run);
  const TrainingRun again = load_run(scratch.path());
  EXPECT_EQ(again.what, run.what);
  EXPECT_EQ(json_of(again.how), json_of(run.how));
  EXPECT_EQ(again.begin, run.begin);
  EXPECT_EQ(again.budget.steps, 5);
  EXPECT_EQ(again.budget.minutes, 1.5);
  EXPECT_EQ(again.on.device, Device::gpu);
  EXPECT_EQ(again.on.precision, Precision::bf16);
  EXPECT_EQ(again.where.command, "attn train pairs");
  EXPECT_EQ(again.where.save_every, 3);
  EXPECT_EQ(again.where.shard_bytes, std::uint64_t{4} << 20);
}

TEST(TrainingRun, FilesOfOlderVersionsAreRead) {
  const Scratch scratch;
  scratch.write("training.json",
                R"({"task": "caption", "model": {"attention": "hard", "channels": 6, "words": 4,
                "hidden": 6, "score": 4}, "loss": {"doubly": 0.125, "reward": 1, "entropy": 0.5,
                "soft_probability": 0.25}, "training": {"rate": 0.5}, "canvases": 7,
                "begin": "elsewhere", "command": "attn train caption"})");
  const TrainingRun run = load_run(scratch.path());
  EXPECT_EQ(run.what["model"]["attention"], "hard");
  EXPECT_EQ(run.what["loss"]["doubly"], 0.125);
  EXPECT_EQ(run.what["canvases"], 7);
  EXPECT_EQ(run.how.rate, 0.5);
  EXPECT_EQ(run.begin, std::vector<std::filesystem::path>{"elsewhere"});
  EXPECT_EQ(run.where.command, "attn train caption");
  scratch.write("training.json", R"({"task": "caption", "training": {}})");
  EXPECT_THROW(load_run(scratch.path()), FileError);
}

TEST(TrainingRun, SomeMembersAreEnoughAndTheRestStays) {
  TrainingRun run = run_of("translate");
  const TrainingRun before = run;
  read_run({{"model", {{"dim", 32}, {"kind", "luong"}}}, {"training", {{"rate", 0.5}}}}, "c",
           run);
  EXPECT_EQ(run.what["model"]["dim"], 32);
  EXPECT_EQ(run.what["model"]["kind"], "luong");
  EXPECT_EQ(run.what["model"]["heads"], before.what["model"]["heads"]);
  EXPECT_EQ(run.how.rate, 0.5);
  EXPECT_EQ(run.how.warm_up, before.how.warm_up);
}

TEST(TrainingRun, UnknownMembersAndWrongKindsAreErrorsThatNameThem) {
  TrainingRun run = run_of("pairs");
  const auto said = [&](const nlohmann::json& json) {
    return message_of<FileError>([&] { read_run(json, "c.json", run); });
  };
  EXPECT_NE(said({{"modle", 1}}).find("c.json: there is no \"modle\""), std::string::npos);
  EXPECT_NE(said({{"model", {{"dimm", 1}}}}).find("model.dimm"), std::string::npos);
  EXPECT_NE(said({{"training", {{"rate", "fast"}}}}).find("training.rate"), std::string::npos);
  EXPECT_NE(said({{"data", 7}}).find("data"), std::string::npos);
  EXPECT_NE(said({{"device", "abacus"}}).find("abacus"), std::string::npos);
  EXPECT_NE(said({{"budget", {{"steps", -1}}}}).find("budget.steps"), std::string::npos);
  EXPECT_NE(said({{"model", 3}}).find("an object is accepted"), std::string::npos);
  const std::vector<std::string> members = run_members(run);
  for (const char* name : {"data", "model.dim", "training.rate", "budget.minutes", "begin"})
    EXPECT_NE(std::find(members.begin(), members.end(), name), members.end()) << name;
}

TEST(PairsTask, ReadsShortTextsByLettersAndSentencesBySubwords) {
  const auto suited = [](const std::string& source, const std::string& target) {
    Corpus corpus;
    for (int i = 0; i < 30; ++i)
      corpus.train.push_back({"", source + std::to_string(i), {target}});
    return task_named("pairs").defaults({}, &corpus).what;
  };
  const nlohmann::json words = suited("12 August 199", "1997-08-12");
  EXPECT_EQ(words["source_units"], "characters");
  EXPECT_EQ(words["model"]["kind"], "bahdanau");
  const std::string sentence =
      "This is a longer sentence, of which a single letter tells nearly nothing at all.";
  const nlohmann::json sentences = suited(sentence, sentence);
  EXPECT_EQ(sentences["source_units"], "subwords");
  EXPECT_EQ(sentences["shared_vocabulary"], true);
  EXPECT_EQ(sentences["model"]["kind"], "transformer");
  EXPECT_THROW(task_named("pairs").corpus(run_of("pairs").what, {}), InvalidArgument)
      << "it has no data of its own";
}

}  // namespace
}  // namespace attn::tasks
