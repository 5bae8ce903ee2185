// attn entail as a newcomer meets it: a model of one's own pairs, its two lines of output,
// lines of standard input, JSON, a map and a page.

#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <streambuf>
#include <string>

#include "attn/files/json.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/say.hpp"
#include "tools/serve/assets.hpp"

namespace attn::tools {
namespace {

class EntailCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::string lines;
    for (int i = 0; i < 40; ++i) {
      const std::string premise = "dog " + std::to_string(i) + " runs";
      lines += "entailment\t" + premise + "\tit runs\nc\t" + premise + "\tit sleeps\nn\t" +
               premise + "\tit is old\n";
    }
    const std::string data = scratch_.write("pairs.tsv", lines).string();
    const Said said = say({"train", "entail", "--data", data, "--out", model_, "--steps", "3",
                           "--dim", "8", "--hidden", "8"});
    ASSERT_EQ(said.status, success) << said.err;
  }

  tasks::Scratch scratch_;
  std::string model_ = (scratch_.path() / "model").string();
};

TEST_F(EntailCommand, SaysTheLabelAloneAndThenHowLikelyEachIs) {
  const Said said = say({"entail", "--model", model_, "A dog runs.", "It runs."});
  ASSERT_EQ(said.status, success) << said.err;
  const std::string label = "(entailment|neutral|contradiction)";
  const std::string chance = label + " [01]\\.[0-9]{3}";
  EXPECT_TRUE(std::regex_match(
      said.out, std::regex(label + "\n" + chance + "  " + chance + "  " + chance + "\n")))
      << said.out;
  const Said json = say({"entail", "--model", model_, "--json", "A dog runs.", "It runs."});
  const auto line = nlohmann::json::parse(json.out);
  EXPECT_EQ(line.at("text").get<std::string>() + "\n",
            said.out.substr(0, said.out.find('\n') + 1));
  EXPECT_EQ(line.at("output").at("labels").size(), 3u);
}

TEST_F(EntailCommand, AnswersALineEachAndNamesThoseItRefuses) {
  std::istringstream text("A dog runs.\tIt runs.\nA dog runs.\nA dog runs.\t犬\n");
  std::streambuf* const before = std::cin.rdbuf(text.rdbuf());
  const Said said = say({"entail", "--model", model_, "-"});
  std::cin.rdbuf(before);
  EXPECT_EQ(said.status, failure);
  EXPECT_TRUE(std::regex_match(said.out, std::regex("[a-z]+\n\n\n"))) << said.out;
  EXPECT_NE(said.err.find("line 2 of standard input has an empty hypothesis"),
            std::string::npos)
      << said.err;
  EXPECT_NE(said.err.find("line 3"), std::string::npos);
  EXPECT_EQ(say({"entail", "--model", model_, "A dog runs."}).status, usage);
}

TEST_F(EntailCommand, DrawsAndExplains) {
  const std::string map = (scratch_.path() / "map.json").string();
  ASSERT_EQ(say({"entail", "--model", model_, "A dog runs.", "It runs.", "--map", map}).status,
            success);
  const auto json = files::read_json(map);
  EXPECT_EQ(json.at("rows"), (nlohmann::json{"it", "runs"}));
  EXPECT_EQ(json.at("columns").size(), 3u);

  const std::string page = (scratch_.path() / "page.html").string();
  const Said few = say({"explain", "entail", "A dog runs.", "--model", model_, "--html", page});
  EXPECT_EQ(few.status, failure);
  EXPECT_NE(few.err.find("premise, hypothesis"), std::string::npos) << few.err;
  if (!serve::has_page()) GTEST_SKIP() << "the page is built where npm is found";
  const Said said =
      say({"explain", "entail", "A dog runs.", "It runs.", "--model", model_, "--html", page});
  EXPECT_EQ(said.status, success) << said.err;
  EXPECT_TRUE(std::filesystem::exists(page));
}

TEST_F(EntailCommand, IsScoredOnItsOwnPairs) {
  const Said said = say({"eval", "entail", "--model", model_, "--json"});
  ASSERT_EQ(said.status, success) << said.err;
  EXPECT_TRUE(nlohmann::json::parse(said.out).at("scores").contains("accuracy"));
  const Said bad =
      say({"train", "entail", "--data", scratch_.write("bad.tsv", "x\ty\n").string(), "--out",
           model_ + "-2", "--steps", "1"});
  EXPECT_EQ(bad.status, failure);
  EXPECT_NE(bad.err.find("line 1 has 2 columns"), std::string::npos) << bad.err;
}

}  // namespace
}  // namespace attn::tools
