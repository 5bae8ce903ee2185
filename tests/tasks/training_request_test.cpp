// What a training was asked, as a file that can be read again, and written by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/models/options.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/prepare.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

TEST(TrainingRequest, WhatIsSavedIsReadBackEqual) {
  const Scratch scratch;
  TrainingRequest request = default_request(pair_task_named("pairs"));
  request.data = "/a/b.csv";
  request.data_checksum = "abc";
  request.source_column = "question";
  request.model.dim = 48;
  request.training.rate = 0.00123;
  request.training.seed = 18446744073709551615u;
  request.limits = {.source = 7, .target = 9};
  request.begin = {"/m/one"};
  request.budget = {.steps = 5, .epochs = 0, .minutes = 1.5};
  request.device = "gpu";
  request.precision = "bf16";
  request.save_every = 3;
  request.shard_mib = 4;
  save_request(scratch.path(), request);
  const TrainingRequest again = load_request(scratch.path());
  EXPECT_EQ(again.data, request.data);
  EXPECT_EQ(again.data_checksum, "abc");
  EXPECT_EQ(again.source_column, "question");
  EXPECT_EQ(again.model, request.model);
  EXPECT_EQ(to_json(again.training), to_json(request.training));
  EXPECT_EQ(again.limits.source, 7);
  EXPECT_EQ(again.limits.target, 9);
  EXPECT_EQ(again.begin, request.begin);
  EXPECT_EQ(again.budget.steps, 5);
  EXPECT_EQ(again.budget.minutes, 1.5);
  EXPECT_EQ(again.device, "gpu");
  EXPECT_EQ(again.precision, "bf16");
  EXPECT_EQ(again.save_every, 3);
  EXPECT_EQ(again.shard_mib, 4);
}

TEST(TrainingRequest, SomeMembersAreEnoughAndTheRestStays) {
  TrainingRequest request = default_request(pair_task_named("translate"));
  const TrainingRequest before = request;
  read_request({{"model", {{"dim", 32}, {"kind", "luong"}}}, {"training", {{"rate", 0.5}}}},
               "c", request);
  EXPECT_EQ(request.model.dim, 32);
  EXPECT_EQ(request.model.kind, models::Kind::luong);
  EXPECT_EQ(request.model.heads, before.model.heads);
  EXPECT_EQ(request.training.rate, 0.5);
  EXPECT_EQ(request.training.warm_up, before.training.warm_up);
}

TEST(TrainingRequest, UnknownMembersAndWrongKindsAreErrorsThatNameThem) {
  TrainingRequest request = default_request(pair_task_named("pairs"));
  const auto said = [&](const nlohmann::json& json) {
    return message_of<FileError>([&] { read_request(json, "c.json", request); });
  };
  EXPECT_NE(said({{"modle", 1}}).find("c.json: there is no \"modle\""), std::string::npos);
  EXPECT_NE(said({{"model", {{"dimm", 1}}}}).find("model.dimm"), std::string::npos);
  EXPECT_NE(said({{"training", {{"rate", "fast"}}}}).find("training.rate"), std::string::npos);
  EXPECT_NE(said({{"data", 7}}).find("data"), std::string::npos);
  EXPECT_NE(said({{"budget", {{"steps", -1}}}}).find("budget.steps"), std::string::npos);
  EXPECT_NE(said({{"model", 3}}).find("an object is accepted"), std::string::npos);
  const std::vector<std::string> members = request_members();
  for (const char* name : {"data", "model.dim", "training.rate", "budget.minutes", "begin"})
    EXPECT_NE(std::find(members.begin(), members.end(), name), members.end()) << name;
}

TEST(PairsTask, ReadsShortTextsByLettersAndSentencesBySubwords) {
  const auto suited = [](const std::string& source, const std::string& target) {
    Corpus corpus;
    for (int i = 0; i < 30; ++i)
      corpus.train.push_back({"", source + std::to_string(i), {target}});
    TrainingRequest request = default_request(pair_task_named("pairs"));
    suit_corpus(request, corpus);
    return request;
  };
  const TrainingRequest words = suited("12 August 199", "1997-08-12");
  EXPECT_EQ(words.tokens.source, text::Units::characters);
  EXPECT_EQ(words.model.kind, models::Kind::bahdanau);
  const std::string sentence =
      "This is a longer sentence, of which a single letter tells nearly nothing at all.";
  const TrainingRequest sentences = suited(sentence, sentence);
  EXPECT_EQ(sentences.tokens.source, text::Units::subwords);
  EXPECT_TRUE(sentences.tokens.shared);
  EXPECT_EQ(sentences.model.kind, models::Kind::transformer);
  EXPECT_THROW(pair_task_named("pairs").load("", {}), InvalidArgument)
      << "it has no data of its own";
}

}  // namespace
}  // namespace attn::tasks
