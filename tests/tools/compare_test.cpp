// `attn compare`: one table is of one data set, one budget and one set of options.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
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

}  // namespace
}  // namespace attn::tools
