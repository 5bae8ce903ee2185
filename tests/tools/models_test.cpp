// attn models lists what ships, and a wrong --model is explained.

#include <gtest/gtest.h>
#include <stdlib.h>  // setenv

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

TEST(Models, AreListedWithTaskPurposeScoreAndFolder) {
  const Said said = say({"models", "--json"});
  ASSERT_EQ(said.status, success) << said.err;
  const auto all = nlohmann::json::parse(said.out);
  int folders = 0;
  for (const auto& entry : fs::directory_iterator(ATTN_SHIPPED_MODELS))
    folders += fs::exists(entry.path() / "config.json") ? 1 : 0;
  EXPECT_EQ(all.size(), static_cast<std::size_t>(folders));
  const std::string text = say({"models"}).out;
  for (const auto& model : all) {
    const std::string name = model.at("name").get<std::string>();
    EXPECT_TRUE(fs::exists(fs::path(model.at("folder").get<std::string>()) / "config.json"));
    EXPECT_GT(model.at("bytes").get<int>(), 100000) << name;
    for (const char* part : {"task", "purpose", "score", "folder"}) {
      const std::string value = model.at(part).get<std::string>();
      EXPECT_FALSE(value.empty()) << name << ": " << part;
      EXPECT_NE(text.find(value), std::string::npos) << value;
    }
    if (name == "translate") {
      EXPECT_EQ(model.at("score").get<std::string>().rfind("BLEU ", 0), 0u) << model;
      EXPECT_NE(model.at("purpose").get<std::string>().find("Italian"), std::string::npos);
    }
  }
}

TEST(Models, OfAnotherFolderComeFirstAndNeedNoCard) {
  const tasks::Scratch scratch;
  fs::create_directory(scratch.path() / "mine");
  scratch.write(
      "mine/config.json",
      R"({"format": 1, "task": "translate", "history": {"development": {"BLEU": 12.34}}})");
  setenv("ATTN_MODELS", scratch.path().c_str(), 1);
  const auto all = nlohmann::json::parse(say({"models", "--json"}).out);
  unsetenv("ATTN_MODELS");
  const auto mine = std::find_if(all.begin(), all.end(),
                                 [](const auto& model) { return model.at("name") == "mine"; });
  ASSERT_NE(mine, all.end());
  EXPECT_EQ(mine->at("score"), "BLEU 12.3 on the development part");
}

TEST(Models, AWrongNameListsThoseThereAre) {
  const Said said = say({"translate", "word", "--model", "pronuonce"});
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("there is no model \"pronuonce\""), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("did you mean pronounce?"), std::string::npos) << said.err;
  for (const char* name : {" caption-soft, ", " pronounce, "})
    EXPECT_NE(said.err.find(name), std::string::npos) << said.err;
}

TEST(Models, AFolderOfHuggingFaceIsNamedAsWhatItIs) {
  const tasks::Scratch scratch;
  scratch.write("config.json", R"({"model_type": "marian", "vocab_size": 100})");
  for (const char* command : {"translate", "eval"}) {
    const Said said = command == std::string("eval")
                          ? say({"eval", "translate", "--model", scratch.path().string()})
                          : say({command, "word", "--model", scratch.path().string()});
    EXPECT_EQ(said.status, failure);
    EXPECT_NE(
        said.err.find("is a Hugging Face folder of model_type \"marian\"; attn cannot run "
                      "these yet"),
        std::string::npos)
        << said.err;
  }
}

}  // namespace
}  // namespace attn::tools
