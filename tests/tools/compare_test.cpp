// `attn compare`: one table is of one data set, one budget and one set of options.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/read_file.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/corpus.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/compare_lengths.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

/// Words of three letters, all of one length, and the same in capitals.
std::string short_pairs(char first) {
  std::string text;
  for (int i = 0; i < 64; ++i) {
    std::string word;
    std::string spelt;
    for (int j = 0, rest = i; j < 3; ++j, rest /= 4) {
      word += static_cast<char>(first + rest % 4);
      spelt += (spelt.empty() ? "" : " ") + std::string(1, static_cast<char>('A' + rest % 4));
    }
    text += word + "\t" + spelt + "\n";
  }
  return text;
}

std::vector<std::string> compare_command(const std::string& data, const std::string& out) {
  return {"compare",        "pronounce", "--data",        data, "--out",   out,
          "--only",         "none",      "--steps",       "2",  "--limit", "4",
          "--batch-tokens", "100",       "--evaluate-on", "2"};
}

std::vector<std::string> with(std::vector<std::string> command, const std::string& flag,
                              const std::string& value) {
  for (std::size_t i = 0; i + 1 < command.size(); ++i)
    if (command[i] == flag) {
      command[i + 1] = value;
      return command;
    }
  command.insert(command.end(), {flag, value});
  return command;
}

TEST(CompareCommand, AResultIsShownAgainForTheSameComparisonAlone) {
  const tasks::Scratch scratch;
  const std::string data = scratch.write("pairs.tsv", short_pairs('a'));
  const std::string out = scratch.path() / "out";
  const auto command = compare_command(data, out);
  const Said first = say(command);
  ASSERT_EQ(first.status, success) << first.err;
  EXPECT_NE(first.out.find("RNN without attention"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find(" - |"), std::string::npos)
      << "no source is longer than the median: " << first.out;

  const Said again = say(command);
  EXPECT_EQ(again.status, success) << again.err;
  EXPECT_EQ(again.out, first.out);
  EXPECT_EQ(again.err.find("training"), std::string::npos) << again.err;
  fs::copy_file(data, scratch.path() / "renamed.tsv");
  EXPECT_EQ(say(with(command, "--data", scratch.path() / "renamed.tsv")).status, success);

  const std::string others = scratch.write("others.tsv", short_pairs('e'));
  const struct {
    const char* flag;
    std::string value;
    const char* told;
  } changes[] = {{"--steps", "3", "budget.steps was 2 and is 3 here"},
                 {"--seed", "5", "training.seed was 1 and is 5 here"},
                 {"--limit", "3", "limit was 4 and is 3 here"},
                 {"--data", others, "fingerprint was"}};
  for (const auto& [flag, value, told] : changes) {
    const Said said = say(with(command, flag, value));
    EXPECT_EQ(said.status, failure) << flag;
    EXPECT_NE(said.err.find(told), std::string::npos) << said.err;
    EXPECT_NE(said.err.find("name another --out"), std::string::npos) << said.err;
    EXPECT_EQ(said.out, "") << flag;
  }

  auto as_json = command;
  as_json.emplace_back("--json");
  const auto results = nlohmann::json::parse(say(as_json).out);
  EXPECT_TRUE(results.at(0).at("scores").at("long").is_null());
  EXPECT_EQ(results.at(0).at("steps"), 2);
}

TEST(CompareCommand, ADamagedResultIsAnErrorThatNamesTheFile) {
  const tasks::Scratch scratch;
  const std::string data = scratch.write("pairs.tsv", short_pairs('a'));
  const fs::path out = scratch.path() / "out";
  fs::create_directories(out / "none");
  for (const char* text : {R"({"a":1})", "[]", R"({"run": 3})", "{"}) {
    std::ofstream(out / "none" / "result.json") << text;
    const Said said = say(compare_command(data, out));
    EXPECT_EQ(said.status, failure) << text;
    EXPECT_NE(said.err.find("result.json"), std::string::npos) << said.err;
    EXPECT_EQ(said.err.find("json.exception"), std::string::npos) << said.err;
  }
}

/// As a kill leaves it: a model, perhaps, and no checkpoint.
TEST(CompareCommand, WhatWasKilledBeforeACheckpointBeginsAgain) {
  const tasks::Scratch scratch;
  const std::string data = scratch.write("pairs.tsv", short_pairs('a'));
  const fs::path out = scratch.path() / "out";
  const auto command = compare_command(data, out);
  const Said whole = say(command);
  ASSERT_EQ(whole.status, success) << whole.err;
  const fs::path folder = out / "none";
  EXPECT_FALSE(fs::exists(folder / "run.json"));
  const nlohmann::json result = nlohmann::json::parse(std::ifstream(folder / "result.json"));
  fs::remove(folder / "result.json");
  fs::remove(folder / "checkpoint.safetensors");

  const Said foreign = say(command);  // a model that this command did not begin
  EXPECT_EQ(foreign.status, failure);
  EXPECT_NE(foreign.err.find("holds a model already"), std::string::npos) << foreign.err;

  std::ofstream(folder / "run.json") << result.at("run").dump();
  const Said again = say(command);
  EXPECT_EQ(again.status, success) << again.err;
  EXPECT_FALSE(fs::exists(folder / "run.json"));
  const nlohmann::json second = nlohmann::json::parse(std::ifstream(folder / "result.json"));
  EXPECT_EQ(second.at("scores"), result.at("scores"));
}

std::vector<tasks::Example> of_lengths(const std::vector<std::size_t>& lengths) {
  std::vector<tasks::Example> examples;
  for (const std::size_t length : lengths)
    examples.push_back({.id = "", .source = std::string(length, 'a'), .targets = {"b"}});
  return examples;
}

TEST(CompareLengths, BinsGoFromShortToLongAndHoldAllExamples) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 37; ++i) lengths.push_back(1 + i * 7 % 20);
  const std::vector<LengthBin> bins = length_bins(of_lengths(lengths));
  ASSERT_EQ(bins.size(), 10u);
  std::size_t count = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    count += bins[i].examples.size();
    EXPECT_LE(static_cast<double>(bins[i].shortest), bins[i].mean);
    EXPECT_GE(static_cast<double>(bins[i].longest), bins[i].mean);
    EXPECT_GE(bins[i].shortest, i > 0 ? bins[i - 1].longest : 0);
  }
  EXPECT_EQ(count, lengths.size());
  EXPECT_EQ(length_bins(of_lengths({3, 1, 2})).size(), 3u);
  EXPECT_TRUE(length_bins({}).empty());
}

TEST(CompareLengths, TrainedToLeavesTwiceAsLongForTheTest) {
  tasks::Corpus corpus;
  corpus.train = of_lengths({1, 5, 6});
  corpus.development = of_lengths({5, 9});
  corpus.test = of_lengths({10, 11});
  train_to(corpus, 5);
  EXPECT_EQ(corpus.train.size(), 2u);
  EXPECT_EQ(corpus.development.size(), 1u);
  EXPECT_EQ(corpus.test.size(), 1u);
  EXPECT_THROW(train_to(corpus, 2), InvalidArgument) << "nothing is left of development";
}

TEST(CompareCommand, ScoresByLengthAreATableAndACurve) {
  const tasks::Scratch scratch;
  const std::string data = scratch.write("pairs.tsv", short_pairs('a'));
  const std::string map = scratch.path() / "lengths.json";
  auto command = compare_command(data, scratch.path() / "out");
  command.insert(command.end(), {"--by-length", "--map", map});
  const Said said = say(command);
  ASSERT_EQ(said.status, success) << said.err;
  EXPECT_NE(said.out.find("PER by characters | 3-3 |"), std::string::npos) << said.out;
  const auto curve = std::get<maps::Training>(maps::read_map(map));
  ASSERT_EQ(curve.series.size(), 1u);
  EXPECT_EQ(curve.series[0].name, "RNN without attention");
  EXPECT_EQ(curve.series[0].x.front(), 3.0);
  command.insert(command.end(), {"--trained-to", "0"});
  EXPECT_EQ(say(command).status, usage);
  command.back() = "2";
  const Said none = say(command);
  EXPECT_EQ(none.status, failure);
  EXPECT_NE(none.err.find("--trained-to 2 leaves 0 examples"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace attn::tools
