// attn models and attn tasks list what ships, and a wrong --model is explained.

#include <gtest/gtest.h>
#include <stdlib.h>  // setenv

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/tasks/task.hpp"
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
      EXPECT_EQ(model.at("score").get<std::string>().rfind("everyday BLEU ", 0), 0u) << model;
      EXPECT_NE(model.at("purpose").get<std::string>().find("Italian"), std::string::npos);
    }
  }
}

TEST(Models, AreCompressedToHalfAndAnswerTheSame) {
  const tasks::Scratch scratch;
  const std::string small = (scratch.path() / "small").string();
  const fs::path from = fs::path(ATTN_SHIPPED_MODELS) / "pronounce-global";
  const Said said = say({"compress", "pronounce-global", "--out", small});
  ASSERT_EQ(said.status, success) << said.err;
  EXPECT_LT(fs::file_size(fs::path(small) / "model.safetensors"),
            fs::file_size(from / "model.safetensors") * 6 / 10);
  const std::vector<std::string> words = {"attention", "kernel", "memory", "colonel"};
  for (const std::string& word : words)
    EXPECT_EQ(say({"pronounce", "--model", small, word}).out,
              say({"pronounce", "--model", "pronounce-global", word}).out);
  // Nothing is overwritten, and what has no weights is named.
  EXPECT_EQ(say({"compress", "pronounce-global", "--out", small}).status, failure);
  EXPECT_EQ(say({"compress", small, "--out", small + "2"}).status, failure);
  EXPECT_FALSE(fs::exists(small + "2/model.safetensors"));
  EXPECT_EQ(say({"compress", "no-such-model", "--out", small + "3"}).status, failure);
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

TEST(Tasks, AreListedWithScoreFloorGoalSizeAndFigure) {
  const Said said = say({"tasks", "--json"});
  ASSERT_EQ(said.status, success) << said.err;
  const auto all = nlohmann::json::parse(said.out);
  EXPECT_EQ(all.size(), tasks::all_tasks().size());
  const std::string text = say({"tasks"}).out;
  const fs::path tree = fs::path(ATTN_SHIPPED_MODELS) / "..";
  std::size_t models = 0;
  for (const auto& task : all) {
    const std::string name = task.at("name").get<std::string>();
    EXPECT_NE(text.find(name + ": "), std::string::npos) << name;
    models += task.at("models").size();
    if (task.at("models").empty()) continue;
    EXPECT_FALSE(task.at("score").get<std::string>().empty()) << name;
    EXPECT_FALSE(task.at("figure").get<std::string>().empty()) << name;
    EXPECT_TRUE(fs::exists(tree / task.at("figure").get<std::string>())) << task.at("figure");
    std::size_t bytes = 0;
    for (const auto& model : task.at("models")) {
      bytes += model.at("size").get<std::size_t>();
      // A goal without a floor, or a figure that is not there, is a slip of a card's author.
      EXPECT_EQ(model.at("goal").get<std::string>().empty(),
                model.at("floor").get<std::string>().empty())
          << model.at("name");
    }
    EXPECT_EQ(task.at("size").get<std::size_t>(), bytes) << name;
  }
  EXPECT_EQ(models, nlohmann::json::parse(say({"models", "--json"}).out).size());
}

TEST(Tasks, TellFirstOfTheModelThatAnswers) {
  for (const auto& task : nlohmann::json::parse(say({"tasks", "--json"}).out)) {
    const std::string name = task.at("name").get<std::string>();
    if (name == "translate") {
      EXPECT_EQ(task.at("models")[0].at("name"), "translate");
      EXPECT_EQ(task.at("score").get<std::string>().rfind("everyday BLEU ", 0), 0u) << task;
      EXPECT_EQ(task.at("floor"), "everyday BLEU 28, chrF 50; descriptions BLEU 50");
    }
    if (name == "classify") {
      EXPECT_EQ(task.at("models")[0].at("name"), "classify-sections");
    }
  }
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
