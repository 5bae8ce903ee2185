// attn data: counts, samples, JSON and parts of a user's pairs.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

class Data : public testing::Test {
 protected:
  Data() : folder_(fs::path(testing::TempDir()) / "attn_data_test") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ofstream file(folder_ / "mine.tsv");
    for (int i = 0; i < 40; ++i) file << "source " << i << "\ttarget " << i << "\n";
  }
  ~Data() override { fs::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

TEST_F(Data, PairsOfAUserAreCountedAndShown) {
  const Said said = say({"data", "translate", "--data", path("mine.tsv"), "--samples", "1"});
  EXPECT_EQ(said.status, success) << said.err;
  EXPECT_NE(said.out.find("train: 36 examples"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("train in test: 0 sources, 0 targets"), std::string::npos);
  EXPECT_NE(said.out.find("-> target"), std::string::npos);
}

TEST_F(Data, JsonHoldsTheSame) {
  const Said said = say({"data", "translate", "--data", path("mine.tsv"), "--json",
                         "--baselines", "--samples", "2"});
  EXPECT_EQ(said.status, success) << said.err;
  const auto json = nlohmann::json::parse(said.out);
  EXPECT_EQ(json["parts"]["test"]["examples"], 2);
  EXPECT_EQ(json["samples"].size(), 2u);
  EXPECT_TRUE(json["baselines"]["the source itself"].contains("BLEU"));
}

TEST_F(Data, PartsAreWrittenAndHoldEveryLine) {
  const Said said =
      say({"data", "summarise", "--data", path("mine.tsv"), "--out", path("parts")});
  EXPECT_EQ(said.status, success) << said.err;
  std::set<std::string> lines;
  for (const char* part : {"train.tsv", "development.tsv", "test.tsv"}) {
    std::ifstream file(folder_ / "parts" / part);
    for (std::string line; std::getline(file, line);) lines.insert(line);
  }
  EXPECT_EQ(lines.size(), 40u);
  EXPECT_TRUE(lines.contains("source 7\ttarget 7"));
}

TEST_F(Data, WrongRequestsAreToldSo) {
  EXPECT_EQ(say({"data"}).status, usage);
  EXPECT_EQ(say({"data", "sculpt"}).status, usage);
  EXPECT_EQ(say({"data", "translate", "--language", "tlh"}).status, usage);
  const Said none = say({"data", "translate", "--data", path("none.tsv")});
  EXPECT_EQ(none.status, failure);
  EXPECT_NE(none.err.find("none.tsv"), std::string::npos) << none.err;
  EXPECT_EQ(say({"data", "pronounce", "--data", path("mine.tsv"), "--baselines"}).status,
            failure);
  EXPECT_EQ(say({"data", "pronounce", "--make-split", path("x.tsv")}).status, failure);
}

}  // namespace
}  // namespace attn::tools
