// attn embed with an encoder of a few numbers: cosines, neighbours, files, errors.

#include <gtest/gtest.h>
#include <stdlib.h>  // setenv

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attn/files/npy.hpp"
#include "attn/files/safetensors.hpp"
#include "support/tolerance.hpp"
#include "tasks/embed/fake_encoder.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

using nlohmann::json;

/// `attn embed` with an encoder of a few numbers.
class Embed : public testing::Test {
 protected:
  Embed() { tasks::FakeEncoder().write(scratch_.path()); }

  Said embed(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"embed", "--model", scratch_.path().string()});
    return say(arguments);
  }
  std::string path(const std::string& name) const { return (scratch_.path() / name).string(); }

  tasks::Scratch scratch_;
};

TEST_F(Embed, SeveralTextsGiveTheirCosines) {
  const Said said = embed({"a b", "c", "a b", "--json"});
  ASSERT_EQ(said.status, success) << said.err;
  const json result = json::parse(said.out);
  const auto rows = result["similarity"].get<std::vector<std::vector<double>>>();
  ASSERT_EQ(rows.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(rows[i][i], 1.0, test::kFloat);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_DOUBLE_EQ(rows[i][j], rows[j][i]);
  }
  EXPECT_NEAR(rows[0][2], 1.0, test::kFloat);
  EXPECT_LT(rows[0][1], 0.999);
  EXPECT_EQ(result["texts"][1]["text"], "c");
  EXPECT_EQ(result["texts"][1]["embedding"].size(), std::size_t{tasks::FakeEncoder::kWidth});

  const Said shown = embed({"a b", "c"});
  EXPECT_NE(shown.out.find("  1.000"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("a b\n"), std::string::npos) << shown.out;
}

TEST_F(Embed, TheNearestLineIsTheTextItselfAndBlankLinesKeepTheirNumbers) {
  scratch_.write("lines.txt", "c c\r\n\n  \nab\nbbb");
  const Said said = embed({"ab", "--nearest", path("lines.txt"), "--top", "2", "--json"});
  ASSERT_EQ(said.status, success) << said.err;
  const json nearest = json::parse(said.out)["texts"][0]["nearest"];
  ASSERT_EQ(nearest.size(), 2u);
  EXPECT_EQ(nearest[0]["text"], "ab");
  EXPECT_EQ(nearest[0]["line"], 4);
  EXPECT_NEAR(nearest[0]["score"].get<double>(), 1.0, test::kFloat);
  EXPECT_LE(nearest[1]["score"], nearest[0]["score"]);
}

TEST_F(Embed, ManyTextsAreShownWithTheNearestOthers) {
  std::vector<std::string> texts(20, "c");
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i] += std::string(i % 4, 'b');
  texts.insert(texts.end(), {"--top", "3", "--json"});
  const json result = json::parse(embed(texts).out);
  EXPECT_FALSE(result.contains("similarity"));
  for (std::size_t i = 0; i < 20; ++i) {
    ASSERT_EQ(result["texts"][i]["nearest"].size(), 3u);
    for (const json& other : result["texts"][i]["nearest"]) {
      EXPECT_NE(other["line"], i + 1) << "not itself";
      EXPECT_EQ(other["text"], result["texts"][i]["text"]) << "five of each are there";
    }
  }
}

TEST_F(Embed, VectorsAreWrittenAsTheyAreShown) {
  const json shown = json::parse(embed({"a", "b", "--json"}).out);
  ASSERT_EQ(embed({"a", "b", "--out", path("v.npy")}).status, success);
  ASSERT_EQ(embed({"a", "b", "--out", path("v.safetensors")}).status, success);
  const auto npy = files::read_npy(path("v.npy"));
  EXPECT_EQ(npy.shape(), (std::vector<std::int64_t>{2, tasks::FakeEncoder::kWidth}));
  std::vector<float> want = shown["texts"][0]["embedding"].get<std::vector<float>>();
  for (const float value : shown["texts"][1]["embedding"].get<std::vector<float>>())
    want.push_back(value);
  EXPECT_EQ(npy.as<float>(), want);
  EXPECT_EQ(files::read_safetensors(path("v.safetensors")).as<float>("embeddings"), want);
}

TEST_F(Embed, TextsThatAreCutAreTold) {
  const Said said = embed({"a", "cccccccccc"});
  EXPECT_EQ(said.status, success);
  EXPECT_NE(said.err.find("text 2 has 11 pieces"), std::string::npos) << said.err;
}

TEST_F(Embed, WhatIsWrongIsNamed) {
  scratch_.write("bad.txt", "fine\n\xff\n");
  scratch_.write("empty.txt", "\n\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"a", ""}, "text 2 is empty"},
      {{"a", " \t"}, "text 2 is empty"},
      {{"\xc3"}, "text 1 is not UTF-8"},
      {{"a", "--nearest", path("missing.txt")}, "missing.txt"},
      {{"a", "--nearest", path("bad.txt")}, "line 2 is not UTF-8"},
      {{"a", "--nearest", path("empty.txt")}, "empty.txt"},
      {{"a", "--out", "/no/such/folder/v.npy"}, "/no/such/folder"},
  };
  for (const auto& [arguments, what] : cases) {
    const Said said = embed(arguments);
    EXPECT_EQ(said.status, failure) << what;
    EXPECT_NE(said.err.find(what), std::string::npos) << said.err;
    EXPECT_EQ(said.out, "") << what;
  }
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{}, {"a", "--out", "v.txt"}, {"a", "--top", "0"}})
    EXPECT_EQ(embed(wrong).status, usage);
}

TEST(EmbedWithoutEncoder, SaysHowToFetchIt) {
  const tasks::Scratch scratch;
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("XDG_CACHE_HOME", scratch.path().c_str(), 1);
  const Said said = say({"embed", "a"});
  if (before != nullptr) {
    ::setenv("XDG_CACHE_HOME", kept.c_str(), 1);
  } else {
    ::unsetenv("XDG_CACHE_HOME");
  }
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("attn data embed"), std::string::npos) << said.err;
}

}  // namespace
}  // namespace attn::tools
