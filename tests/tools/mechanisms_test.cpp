#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

TEST(Mechanisms, AreListedByFamilyAndAsJson) {
  const Said list = say({"mechanisms"});
  EXPECT_EQ(list.status, success);
  EXPECT_NE(list.out.find("score_additive"), std::string::npos);
  EXPECT_NE(list.out.find("62 mechanisms"), std::string::npos);
  const auto all = nlohmann::json::parse(say({"mechanisms", "--json"}).out);
  EXPECT_EQ(all.size(), 62u);
  for (const auto& one : all) EXPECT_FALSE(one.at("paper").get<std::string>().empty());
}

TEST(Mechanisms, ThePageIsWhatTheRegistrySays) {
  std::ifstream page(ATTN_TEST_DATA "/../../docs/mechanisms.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  EXPECT_EQ(text, say({"mechanisms", "--markdown"}).out)
      << "run: ./attn mechanisms --markdown >docs/mechanisms.md";
}

TEST(Mechanisms, OneIsTaught) {
  const Said one = say({"mechanisms", "local_predictive"});
  for (const char* part : {"Formula", "Paper", "Made of", "In C++", "include/attn/nn/local/"})
    EXPECT_NE(one.out.find(part), std::string::npos) << part;
}

TEST(Mechanisms, AWrongNameSuggestsTheNearest) {
  const Said said = say({"mechanisms", "score_additiv"});
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("score_additive"), std::string::npos) << said.err;
}

TEST(Gradcheck, SaysForEachInputWhetherItIsRight) {
  const Said said = say({"gradcheck", "score_additive"});
  EXPECT_EQ(said.status, success);
  EXPECT_NE(said.out.find("param.w_v.weight"), std::string::npos);
  EXPECT_NE(said.out.find("1 passed, 0 failed"), std::string::npos);
  EXPECT_EQ(say({"gradcheck"}).status, usage);
}

}  // namespace
}  // namespace attn::tools
